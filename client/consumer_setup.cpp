#include "headrace/client/consumer_setup.hpp"

namespace headrace::service {

consumer_options consumer_options_of(const dataset_node& distribute) {
  const auto& about = distribute.service;
  consumer_options out;
  out.dataset_id = about.dataset_id;
  out.job_name = about.job_name;
  out.mode = about.processing_mode;
  out.repetition = about.iterations ? about.iterations->fetch_add(1) : 0;
  out.spec = distribute.spec;
  out.packing = about.compression;
  out.max_outstanding = about.max_outstanding_requests;
  out.worker_timeout = duration{about.worker_timeout_ns};
  return out;
}

} // namespace headrace::service
