#include "headrace/client/distribute.hpp"

#include "headrace/client/service_client.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "headrace/runtime/node/address.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace {

namespace {

service_options to_service_options(const distribute_options& from) {
  service_options out;
  auto where = parse_address(from.service);
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
  out.address = host_and_port(where->host, where->port);
  out.processing_mode = from.processing_mode;
  out.job_name = from.job_name;
  out.max_outstanding_requests = from.max_outstanding_requests;
  out.compression = from.compression;
  out.worker_timeout_ns = from.worker_timeout.count();
  out.stall_timeout_ns = from.stall_timeout.count();
  out.iterations = std::make_shared<std::atomic<uint64_t>>(0);
  return out;
}

} // namespace

dataset distribute::operator()(const dataset& input) const {
  return dataset{make_distribute(input.node(), to_service_options(options_)).value()};
}

std::string register_dataset(const std::string& service, const dataset& what,
                             const std::string& id) {
  return service::register_graph(service, what.node(), id).value();
}

dataset from_dataset_id(distribute_options options, const std::string& id) {
  auto about = to_service_options(options);
  auto spec =
    service::spec_of(options.service, id, std::min(options.worker_timeout, service::answer_limit))
      .value();
  about.dataset_id = id;
  return dataset{make_distribute(std::move(spec), unknown_cardinality, std::move(about)).value()};
}

} // namespace headrace
