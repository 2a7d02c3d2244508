#include "headrace/actors/node/dispatcher_stores.hpp"

namespace headrace {

dispatcher_stores::dispatcher_stores()
  : service_(std::make_shared<memory_store<service_record>>(service_record{})) {}

dispatcher_stores::job_store dispatcher_stores::of(const job_description& about) {
  std::lock_guard lock{mutex_};
  auto& out = jobs_[about.id];
  if (!out)
    out =
      std::make_shared<memory_store<job_record>>(job_record{about.id, about.policy, about.plan});
  return out;
}

void dispatcher_stores::drop(job_id id) {
  std::lock_guard lock{mutex_};
  jobs_.erase(id);
}

} // namespace headrace
