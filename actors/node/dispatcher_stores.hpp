#pragma once

#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "headrace/runtime/journal/closable_journal.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace headrace {

/// Where a dispatcher and its jobs keep what they decide. Outlives their actors. Thread-safe.
class dispatcher_stores {
public:
  using job_store = std::shared_ptr<fact_store<job_record>>;

  /// In memory, for as long as this lives.
  dispatcher_stores();
  /// In a directory, where another process goes on. Otherwise as `open_sqlite_journal`, or
  /// data_loss or unimplemented for what this build cannot read.
  static result<std::shared_ptr<dispatcher_stores>> open(const std::string& directory,
                                                         const logger& log);

  const std::shared_ptr<fact_store<service_record>>& service() const noexcept { return service_; }
  /// The store of a job, empty if it is new.
  result<job_store> of(const job_description& about);
  /// The job is over, and its dispatcher has stored that.
  void drop(job_id id);
  /// Why nothing new should be begun: the disk is full, or cannot be written.
  status disk() const;
  /// Writes what is queued and accepts no more. To be called when the actors have ended, and before
  /// their system does.
  void close();

private:
  /// What the journal's thread says of its disk.
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

} // namespace headrace
