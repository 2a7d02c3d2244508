#include "headrace/client/consumer_setup.hpp"

#include "headrace/client/service_call.hpp"

namespace headrace::service {

result<consumer_options> consumer_options_of(const dataset_node& distribute) {
  const auto& about = distribute.service;
  consumer_options out;
  out.dataset_id = about.dataset_id;
  if (out.dataset_id.empty()) {
    HEADRACE_ASSIGN(out.dataset, registration_of(distribute.inputs.at(0)));
  }
  out.job_name = about.job_name;
  out.mode = about.processing_mode;
  out.repetition = about.iterations ? about.iterations->fetch_add(1) : 0;
  out.spec = distribute.spec;
  out.packing = about.compression;
  out.max_outstanding = about.max_outstanding_requests;
  out.worker_timeout = duration{about.worker_timeout_ns};
  out.stall_timeout = duration{about.stall_timeout_ns};
  return out;
}

} // namespace headrace::service
