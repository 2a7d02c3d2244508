#include "headrace/client/internal/consumer_setup.hpp"

#include "headrace/client/internal/service_call.hpp"
#include "headrace/runtime/base/process_place.hpp"

#include <fmt/format.h>

namespace headrace::detail::service {

result<consumer_options> consumer_options_of(const dataset_node& distribute) {
  const auto& about = distribute.as<service_options>();
  consumer_options out;
  out.dataset_id = about.dataset_id;
  if (out.dataset_id.empty()) {
    HEADRACE_ASSIGN(out.dataset, registration_of(distribute.inputs.at(0)));
  }
  out.job_name = about.job_name;
  out.parameters = {
    .mode = about.processing_mode, .targets = about.targets, .guarantee = about.guarantee};
  if (about.cache) {
    out.parameters.cross_trainer_cache = about.cache->terms;
    out.trainer = about.cache->trainer_id;
    out.start = about.cache->start;
  }
  if (about.rounds) {
    out.parameters.num_consumers = about.rounds->num_consumers;
    out.index = about.rounds->consumer_index;
    out.rejoins = about.rounds->rejoin;
    out.consumer_timeout = about.rounds->consumer_timeout;
  }
  // Coordinated reads have one repetition, because the dataset has no end.
  if (about.iterations && !about.rounds) {
    const auto number =
      about.iterations->next(out.dataset ? out.dataset->fingerprint : out.dataset_id);
    if (!number)
      return resource_exhausted(
        fmt::format("distribute: a function has made more than {} different datasets, whose "
                    "iterations are counted for their jobs; read them with one distribute",
                    service_iterations::most));
    out.repetition = *number;
  }
  out.host = process_label();
  out.spec = distribute.spec;
  out.endless = distribute.cardinality == infinite_cardinality;
  out.packing = about.compression;
  out.max_outstanding = about.max_outstanding_requests;
  out.worker_timeout = duration{about.worker_timeout_ns};
  out.stall_timeout = duration{about.stall_timeout_ns};
  return out;
}

} // namespace headrace::detail::service
