#include "headrace/client/drain_worker.hpp"

#include "headrace/actors/protocol/codec/drain_codec.hpp"
#include "headrace/client/internal/service_call.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace headrace {
using namespace detail;

namespace {

result<drain_request> request_for(const std::string& worker) {
  if (worker.find(':') != std::string::npos)
    return drain_request{.which = worker};
  worker_id id;
  const auto* end = worker.data() + worker.size();
  const auto [rest, failed] = std::from_chars(worker.data(), end, id.value, 16);
  if (failed != std::errc{} || rest != end || !id)
    return invalid_argument(fmt::format("'{}' is neither the address of a worker (host:port) nor "
                                        "its number, as `headrace status` shows them",
                                        worker));
  return drain_request{.which = id};
}

std::string name_of(const worker_drains& x) {
  return fmt::format("worker {} at {}", to_string(x.id), x.data_address);
}

status too_late(const std::string& worker, const std::optional<worker_drains>& last,
                duration limit) {
  const auto seconds = in_seconds(limit);
  if (!last)
    return unavailable(
      fmt::format("it is not known whether the service has the worker {}: its dispatcher said "
                  "nothing of it within {:.3g} s",
                  worker, seconds));
  return deadline_exceeded(
    fmt::format("{} has not left within {:.3g} s: it was last heard to have {} task{}. It goes on "
                "leaving, for at most the --drain that it was started with",
                name_of(*last), seconds, last->tasks, last->tasks == 1 ? "" : "s"));
}

/// The error of a request that the dispatcher refused after the drain had begun. `last`: the last
/// answer. A dispatcher that does not have the worker any more has lost its state.
status not_drained(const status& why, const worker_drains& last) {
  if (why.code() != status_code::not_found)
    return why;
  return aborted(
    fmt::format("the dispatcher was started again while {} was leaving, and has not heard of it "
                "since: whether it left in order is not known",
                name_of(last)));
}

} // namespace

status check_worker_name(const std::string& worker) { return request_for(worker).status(); }

result<draining_worker> drain_worker(const std::string& dispatcher, const std::string& worker,
                                     const drain_options& how) {
  HEADRACE_ASSIGN(auto request, request_for(worker));
  const service::target to{dispatcher, how.session.state()};
  const auto now = [] { return clock::system().now(); };
  const auto until = now() + how.timeout;
  std::optional<worker_drains> last;
  for (;;) {
    if (how.stop.stop_requested())
      return cancelled("the wait for the end of the worker was ended");
    const auto question = make_envelope(random_id(), [&](schema::Envelope::Builder b) {
      write_drain_request(b.initDispatcher().initDrainWorker(), request);
    });
    const auto left = std::max(until - now(), duration{1'000'000});
    // After the first answer, a request waits for a dispatcher that cannot be reached, because it
    // may be restarting. The first request does not wait: its error is returned at once.
    const auto answer =
      last ? service::call(to, {.limit = left, .option = "timeout", .stop = how.stop}, question)
           : service::call(to, left, question);
    if (answer.status().code() == status_code::deadline_exceeded)
      return too_late(worker, last, how.timeout);
    if (!answer)
      return last ? not_drained(answer.status(), *last) : answer.status();
    HEADRACE_ASSIGN(const auto said,
                    dispatcher_answer(*answer, schema::DispatcherMessage::WORKER_DRAINS));
    last = read_worker_drains(said.getWorkerDrains());
    const draining_worker out{last->id.value, last->data_address, last->tasks, last->left};
    if (how.on_progress)
      how.on_progress(out);
    if (last->unfinished != 0)
      return aborted(
        fmt::format("{} has left, and its --drain was over before {} task{} had given what {} had "
                    "begun: what did not arrive is read again by others, or lost, as the "
                    "guarantee of each job says",
                    name_of(*last), last->unfinished, last->unfinished == 1 ? "" : "s",
                    last->unfinished == 1 ? "it" : "they"));
    if (last->left)
      return out;
    request.known = last->tasks;
    request.life = last->life;
  }
}

} // namespace headrace
