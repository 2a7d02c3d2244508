#pragma once

#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/store/fact_store.hpp"

#include <map>
#include <memory>
#include <mutex>

namespace headrace {

/// Where a dispatcher and its jobs keep what they decide. Outlives their actors. Thread-safe.
class dispatcher_stores {
public:
  using job_store = std::shared_ptr<fact_store<job_record>>;

  /// In memory, for as long as this lives.
  dispatcher_stores();

  const std::shared_ptr<fact_store<service_record>>& service() const noexcept { return service_; }
  /// The store of a job, empty if it is new.
  job_store of(const job_description& about);
  /// The job is over, and its dispatcher has stored that.
  void drop(job_id id);

private:
  std::shared_ptr<fact_store<service_record>> service_;
  std::mutex mutex_;
  std::map<job_id, job_store> jobs_;
};

} // namespace headrace
