#include "headrace/client/monitor/monitored_server.hpp"

#include "headrace/actors/worker/worker_metrics.hpp"
#include "headrace/client/internal/metrics_access.hpp"
#include "headrace/client/session.hpp"
#include "headrace/runtime/base/address.hpp"

namespace headrace::detail::monitor {

namespace {

/// How long a request waits for the dispatcher in the same process.
constexpr auto patience = std::chrono::seconds{3};

} // namespace

web_options web_options_of(const endpoint_options& where) {
  web_options out{.host = where.host, .tls = where.tls, .insecure = where.insecure};
  if (!where.advertise_host.empty())
    out.names.push_back(where.advertise_host);
  return out;
}

monitored of_dispatcher(const endpoint_options& where, uint16_t port) {
  // The status is requested at the host on which the dispatcher listens, because the advertised
  // address may not be reachable from this host, for instance behind address translation.
  const auto here = host_and_port(host_from_here(where.host), port);
  const auto with = where.tls.enabled() ? session{where.tls} : session{};
  return {.status = [here, with] { return get_service_status(here, patience, with); },
          .metrics = {},
          .ready = {}};
}

monitored of_worker(const worker_server& server) {
  return {.status = {},
          .metrics =
            [&server] {
              metric_families out;
              add_registry(out, metrics_access::registry_of(server));
              return out;
            },
          .ready =
            [&server] {
              for (const auto& x : server.metrics())
                if (x.name == worker_metric::heartbeat_answer.name)
                  if (std::get<histogram_counts>(x.value).total() != 0)
                    return status{};
              return unavailable("no dispatcher has answered this worker yet");
            }};
}

} // namespace headrace::detail::monitor
