#include "headrace/client/distribute.hpp"

#include "headrace/actors/protocol/job_parameters.hpp"
#include "headrace/client/internal/service_client.hpp"
#include "headrace/pipeline/graph/read_again.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/pipeline/saving/kept_folders.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <utility>

namespace headrace {
using namespace detail;

namespace {

service_options to_service_options(const distribute_options& from) {
  service_options out;
  const auto service = service::named(from.service, "distribute: service").value();
  auto where = parse_address(service);
  if (!where)
    throw error{where.status().with_context("distribute: service")};
  if (from.max_outstanding_requests < 0)
    throw error{invalid_argument(
      fmt::format("distribute: max_outstanding_requests is {}; it must be 0 (by bytes "
                  "alone) or more",
                  from.max_outstanding_requests))};
  if (from.worker_timeout <= duration::zero())
    throw error{invalid_argument("distribute: worker_timeout must be more than 0")};
  if (from.stall_timeout <= duration::zero())
    throw error{invalid_argument("distribute: stall_timeout must be more than 0")};
  out.targets = from.target_workers;
  if (auto how = can_promise(from.guarantee, from.processing_mode); !how)
    throw error{how.with_context("distribute")};
  out.guarantee = from.guarantee;
  out.cache = from.cross_trainer_cache;
  out.rounds = from.coordinated_reads;
  out.address = host_and_port(where->host, where->port);
  out.processing_mode = from.processing_mode;
  if (auto how = check_job_name(from.job_name); !how)
    throw error{how.with_context("distribute")};
  out.job_name = from.job_name;
  out.max_outstanding_requests = from.max_outstanding_requests;
  out.compression = from.compression;
  out.worker_timeout_ns = from.worker_timeout.count();
  out.stall_timeout_ns = from.stall_timeout.count();
  out.iterations = std::make_shared<service_iterations>();
  out.session = from.session.state();
  return out;
}

/// Throws for options of coordinated reads that the service would refuse later.
void check_rounds(const distribute_options& options, int64_t cardinality) {
  const auto& rounds = options.coordinated_reads;
  if (!rounds)
    return;
  if (rounds->num_consumers == 0)
    throw error{invalid_argument("distribute: num_consumers must be 1 or more")};
  if (rounds->consumer_timeout <= duration::zero())
    throw error{invalid_argument("distribute: consumer_timeout must be more than 0")};
  job_parameters asked{.mode = options.processing_mode,
                       .targets = options.target_workers,
                       .guarantee = options.guarantee,
                       .num_consumers = rounds->num_consumers};
  if (const auto& cache = options.cross_trainer_cache)
    asked.cross_trainer_cache = cache->terms;
  if (auto how = can_coordinate(asked, {.named = !options.job_name.empty(),
                                        .finite = cardinality >= 0,
                                        .index = rounds->consumer_index});
      !how)
    throw error{how.with_context("distribute")};
}

void check_cache(const distribute_options& options, int64_t cardinality) {
  const auto& cache = options.cross_trainer_cache;
  if (!cache)
    return;
  if (cache->trainer_id.empty() || cache->trainer_id.size() > longest_trainer_id)
    throw error{invalid_argument(
      fmt::format("distribute: cross_trainer_cache: trainer_id must have 1 to {} bytes; it has {}",
                  longest_trainer_id, cache->trainer_id.size()))};
  const job_parameters asked{.mode = options.processing_mode,
                             .guarantee = options.guarantee,
                             .cross_trainer_cache = cache->terms};
  if (auto how = can_cache(asked, {.named = !options.job_name.empty(),
                                   .infinite = cardinality == infinite_cardinality});
      !how)
    throw error{how.with_context("distribute")};
}

} // namespace

dataset distribute::operator()(const dataset& input) const {
  check_rounds(options_, input.node()->cardinality);
  check_cache(options_, input.node()->cardinality);
  auto graph = input.node();
  if (options_.processing_mode == sharding_policy::dynamic)
    graph = read_kept_folders(graph).value();
  if (auto how = can_promise(options_.guarantee, options_.processing_mode, *graph); !how)
    throw error{how.with_context("distribute")};
  return dataset{make_distribute(std::move(graph), to_service_options(options_)).value()};
}

std::string register_dataset(const std::string& service, const dataset& what,
                             const register_options& options) {
  auto graph = what.node();
  if (auto how = check_writes_nothing(graph); !how.ok())
    throw error{how.with_context("register_dataset")};
  if (options.compression != compression::automatic)
    graph = make_options(graph, {.compression = options.compression}).value();
  // Without a given id the client chooses one, so that a request that is repeated, because its
  // answer was lost, registers the same id.
  auto out = service::register_graph({service, options.session.state()}, graph,
                                     options.id.empty() ? to_hex(random_id()) + to_hex(random_id())
                                                        : options.id,
                                     {.limit = options.timeout, .stop = options.stop})
               .value();
  if (!out.warning.empty()) {
    if (options.warn)
      options.warn(out.warning);
    else
      std::fprintf(stderr, "headrace: %s\n", out.warning.c_str());
  }
  return std::move(out.id);
}

std::string register_dataset(const std::string& service, const dataset& what,
                             const std::string& id) {
  return register_dataset(service, what, register_options{.id = id});
}

dataset from_dataset_id(distribute_options options, const std::string& id, std::stop_token stop) {
  auto about = to_service_options(options);
  auto what =
    service::metadata_of(
      {options.service, options.session.state()}, id,
      {.limit = options.worker_timeout, .option = "worker_timeout", .stop = std::move(stop)})
      .value();
  if (options.compression != compression::automatic && options.compression != what.compression)
    throw error{invalid_argument(fmt::format(
      "from_dataset_id: compression is '{}', but dataset '{}' was registered with '{}'; leave it "
      "out, or register the dataset under another id with that compression",
      to_string(options.compression), id, to_string(what.compression)))};
  check_rounds(options, what.cardinality);
  check_cache(options, what.cardinality);
  about.dataset_id = id;
  return dataset{make_distribute(std::move(what.spec), what.cardinality, std::move(about)).value()};
}

} // namespace headrace
