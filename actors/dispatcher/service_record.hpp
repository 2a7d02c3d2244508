#pragma once

#include "headrace/actors/dispatcher/dataset_table.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <variant>

namespace headrace {

/// The durable state of a dispatcher: which datasets are registered and which jobs there are.
/// Changes only by facts; the same facts make the same state. What a job does is in that job's own
/// record.
///
/// Ids that somebody registered stay. Those that the dispatcher chose for one iteration are of use
/// until the iteration's job is over, and a little longer, for who asks twice.
class service_record {
public:
  /// How many ids for iterations are kept: that no job was asked for yet, and whose jobs are over.
  static constexpr size_t most_unused = 10'000;
  static constexpr size_t most_left_over = 1'000;
  /// Of graphs that nobody but the former needs; the newest one is kept however large it is.
  static constexpr size_t most_unused_bytes = size_t{512} << 20;
  /// With graphs of more bytes than this, one of the latter.
  static constexpr size_t roomy = size_t{64} << 20;

  struct job {
    job_id id;
    std::string name; ///< empty: anonymous
    std::string dataset_id;
    sharding_policy mode = sharding_policy::off;
    std::string key; ///< who asks with this key means this job
    friend bool operator==(const job&, const job&) = default;
  };
  struct dataset_registered {
    std::string id;
    dataset_record what; ///< without graph and spec if that is known
    bool for_iteration = false;
    friend bool operator==(const dataset_registered&, const dataset_registered&) = default;
  };
  struct job_started {
    job what;
    friend bool operator==(const job_started&, const job_started&) = default;
  };
  /// One more consumer of a job, with a dataset id of its own.
  struct job_joined {
    job_id id;
    std::string dataset_id;
    friend bool operator==(const job_joined&, const job_joined&) = default;
  };
  struct job_over {
    job_id id;
    friend bool operator==(const job_over&, const job_over&) = default;
  };
  /// A worker got a number that no worker had before.
  struct worker_named {
    worker_id id;
    friend bool operator==(const worker_named&, const worker_named&) = default;
  };
  using fact = std::variant<dataset_registered, job_started, job_joined, job_over, worker_named>;

  /// What holding a fact takes, roughly.
  static size_t bytes_of(const fact& what);

  void apply(const fact& what) {
    std::visit([this](const auto& x) { on(x); }, what);
  }

  const dataset_table& datasets() const noexcept { return datasets_; }
  /// How many datasets somebody registered.
  size_t registered() const noexcept { return datasets_.size() - passing_.size(); }
  const std::map<job_id, job>& jobs() const noexcept { return jobs_; }
  /// The highest number of a worker, which nobody gets a second time.
  worker_id last_worker() const noexcept { return last_worker_; }
  /// Null if there is none.
  const job* job_of(const std::string& key) const {
    auto at = by_key_.find(key);
    return at != by_key_.end() ? &jobs_.at(at->second) : nullptr;
  }
  /// The dispatcher chose the id for one iteration.
  bool is_for_iteration(const std::string& dataset_id) const {
    return passing_.contains(dataset_id);
  }
  /// The id is for one iteration, and not known to be one of that job.
  bool may_join(job_id job, const std::string& dataset_id) const;

  friend bool operator==(const service_record&, const service_record&) = default;

private:
  friend struct record_codec<service_record>;
  void on(const dataset_registered& x);
  void on(const job_started& x);
  void on(const job_joined& x) { use(x.dataset_id, x.id); }
  void on(const job_over& x);
  void on(const worker_named& x) { last_worker_ = std::max(last_worker_, x.id); }
  void use(const std::string& dataset_id, job_id by);
  /// Of graphs that only unused ids mean; 0 as long as all graphs together take no more than they
  /// may.
  size_t unused_bytes() const;
  void drop_oldest(std::deque<std::string>& from);

  dataset_table datasets_;
  std::map<job_id, job> jobs_;
  std::map<std::string, job_id> by_key_;
  /// The ids for iterations, each with the jobs that use it.
  std::map<std::string, std::set<job_id>> passing_;
  std::map<job_id, std::set<std::string>> used_by_; ///< the same, by job
  std::deque<std::string> unused_;    ///< of these, in the order of their registration
  std::deque<std::string> left_over_; ///< likewise; their jobs are over
  worker_id last_worker_;
};

} // namespace headrace
