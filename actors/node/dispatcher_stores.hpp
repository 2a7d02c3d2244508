#pragma once

#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "headrace/runtime/journal/closable_journal.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace headrace::detail {

/// The stores of a dispatcher and its jobs. They outlive the actors. Thread-safe.
class dispatcher_stores {
public:
  using job_store = std::shared_ptr<fact_store<job_record>>;

  /// Keeps facts in memory, until the object is destroyed.
  dispatcher_stores();
  /// Keeps facts in a directory, so that another process can continue with them. Errors are those
  /// of `open_sqlite_journal`, or data_loss or unimplemented for content that this build cannot
  /// read.
  static result<std::shared_ptr<dispatcher_stores>>
  open(const std::string& directory, const logger& log, std::shared_ptr<metric_registry> metrics);

  const std::shared_ptr<fact_store<service_record>>& service() const noexcept { return service_; }
  /// The store of a job, which is empty for a new job.
  result<job_store> of(const job_description& about);
  /// Deletes the store of a job. @pre the dispatcher's store was given the fact that the job is
  /// over: the journal keeps the order, so no job in the stored record can lack its store
  void drop(job_id id);
  /// Not ok while nothing new should be begun: the disk is full or cannot be written.
  status disk() const;
  /// Writes the queued facts, and accepts no more. To be called after the actors have ended and
  /// before their actor system is destroyed.
  void close();

private:
  /// The state of the disk, as the journal's thread last reported it.
  struct health {
    std::mutex mutex;
    status disk;
  };

  std::shared_ptr<health> health_ = std::make_shared<health>();
  std::shared_ptr<closable_journal> journal_; ///< null: in memory
  std::shared_ptr<fact_store<service_record>> service_;
  std::mutex mutex_;
  std::map<job_id, job_store> jobs_;
};

} // namespace headrace::detail
