#pragma once

#include "headrace/actors/dispatcher/dataset_table.hpp"
#include "headrace/actors/dispatcher/worker_roster.hpp"
#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/actors/protocol/job_parameters.hpp"
#include "headrace/actors/protocol/job_past.hpp"
#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <variant>

namespace headrace::detail {

/// The durable state of a dispatcher: its registered datasets, jobs, workers and saves. It changes
/// only by facts; the same facts make the same state. The state of a job is in that job's own
/// record.
///
/// Ids that a client registered are kept for good. An id that the dispatcher chose for one
/// iteration is kept until the iteration's job is over, and a little longer, for repeated requests.
class service_record {
public:
  /// The most ids for iterations that are kept: `most_unused` ids for which no job was begun yet,
  /// and `most_left_over` ids whose jobs are over.
  static constexpr size_t most_unused = 10'000;
  static constexpr size_t most_left_over = 1'000;
  /// The most bytes of graphs that have only unused ids. The newest graph is kept whatever its
  /// size.
  static constexpr size_t most_unused_bytes = size_t{512} << 20;
  /// While all graphs together take more bytes than this, ids whose jobs are over are forgotten,
  /// the oldest first, until one of these ids is left.
  static constexpr size_t roomy = size_t{64} << 20;
  /// The most ended named jobs whose finished repetitions are remembered. If a name is forgotten,
  /// its repetitions begin anew.
  static constexpr size_t most_ended = 100'000;
  /// The most collected jobs that are remembered.
  static constexpr size_t most_collected = 1'000;
  /// The most workers whose order to leave is recorded; those with the highest numbers are kept.
  static constexpr size_t most_draining = 10'000;
  /// The most ended saves that are remembered.
  static constexpr size_t most_ended_saves = 1'000;

  struct job {
    job_id id;
    std::string name; ///< empty: anonymous
    std::string dataset_id;
    job_parameters parameters;
    std::string key; ///< requests with this key are for this job
    /// Under a static policy: the number of entries in the list of workers when the job began.
    uint32_t shards = 0;
    /// The repetitions that earlier jobs with this key have finished.
    job_past past = {};
    /// The `targets` of `parameters`; AUTO is replaced if policy and deployment mode require LOCAL.
    target_workers targets = target_workers::automatic;
    friend bool operator==(const job&, const job&) = default;
  };
  struct dataset_registered {
    std::string id;
    dataset_record what; ///< without graph and spec if the record has the fingerprint
    bool for_iteration = false;
    friend bool operator==(const dataset_registered&, const dataset_registered&) = default;
  };
  struct job_started {
    job what;
    friend bool operator==(const job_started&, const job_started&) = default;
  };
  /// The job also uses this dataset id, which the dispatcher chose for another iteration.
  struct job_joined {
    job_id id;
    std::string dataset_id;
    friend bool operator==(const job_joined&, const job_joined&) = default;
  };
  struct job_over {
    job_id id;
    /// The finished repetitions of the job, for later requests with its key.
    job_past past = {};
    /// A repetition of the job was collected, and has not begun again.
    bool collected = false;
    friend bool operator==(const job_over&, const job_over&) = default;
  };
  /// A worker got a number that no worker had before.
  struct worker_named {
    worker_id id;
    friend bool operator==(const worker_named&, const worker_named&) = default;
  };
  /// An entry of the dispatcher's list of workers belongs to this worker, until this worker is gone
  /// and another one takes the entry.
  struct worker_placed {
    uint32_t entry = 0;
    worker_place who;
    friend bool operator==(const worker_placed&, const worker_placed&) = default;
  };
  /// A worker is to leave in order.
  struct worker_drains {
    worker_id id;
    friend bool operator==(const worker_drains&, const worker_drains&) = default;
  };
  /// The worker has left in order.
  struct worker_drained {
    worker_id id;
    friend bool operator==(const worker_drained&, const worker_drained&) = default;
  };
  /// Workers are to write a dataset into a folder.
  struct save_begun {
    save_entry what;
    friend bool operator==(const save_begun&, const save_begun&) = default;
  };
  /// The save has ended.
  struct save_ended {
    save_view how;
    friend bool operator==(const save_ended&, const save_ended&) = default;
  };
  using fact = std::variant<dataset_registered, job_started, job_joined, job_over, worker_named,
                            worker_placed, worker_drains, worker_drained, save_begun, save_ended>;

  /// Estimates the bytes that a fact takes in memory, with the graph and spec of a dataset.
  static size_t bytes_of(const fact& what);

  void apply(const fact& what) {
    std::visit([this](const auto& x) { on(x); }, what);
  }

  const dataset_table& datasets() const noexcept { return datasets_; }
  /// The most ids that clients may register, and the most bytes of graphs that all datasets may
  /// have.
  static constexpr size_t most_registered = 100'000;
  static constexpr size_t most_registered_bytes = size_t{4} << 30;
  /// resource_exhausted: one more dataset would exceed a bound.
  status has_room_for(const dataset_registration& what) const;
  /// The number of ids that clients have registered.
  size_t registered() const noexcept { return datasets_.size() - passing_.size(); }
  const std::map<job_id, job>& jobs() const noexcept { return jobs_; }
  /// The highest number that a worker was given. Numbers are never used twice.
  worker_id last_worker() const noexcept { return last_worker_; }
  /// The workers by entry of the dispatcher's list.
  const std::map<uint32_t, worker_place>& places() const noexcept { return places_; }
  /// True if the worker is to leave in order and has not left yet.
  bool drains(worker_id id) const { return draining_.contains(id); }
  /// The running saves.
  const std::map<save_id, save_entry>& saves() const noexcept { return saves_; }
  /// The latest saves that have ended, in the order of their ends.
  const std::deque<save_view>& ended_saves() const noexcept { return ended_saves_; }
  /// The running job with that key; null if there is none.
  const job* job_of(const std::string& key) const {
    auto at = by_key_.find(key);
    return at != by_key_.end() ? &jobs_.at(at->second) : nullptr;
  }
  /// The remains of a named job that has ended.
  struct ended_job {
    job_id last; ///< the latest job with that key
    job_past past;
    friend bool operator==(const ended_job&, const ended_job&) = default;
  };
  /// The ended job with that key; null if none is remembered, or a job with that key runs.
  const ended_job* ended(const std::string& key) const;
  size_t ended() const noexcept { return ended_.size(); }
  /// True if the job was collected lately.
  bool was_collected(job_id id) const {
    return std::ranges::find(collected_, id) != collected_.end();
  }
  /// True if the dispatcher chose the id for one iteration.
  bool is_for_iteration(const std::string& dataset_id) const {
    return passing_.contains(dataset_id);
  }
  /// True if the id is for one iteration and is not yet recorded as used by `job`.
  bool may_join(job_id job, const std::string& dataset_id) const;

  friend bool operator==(const service_record& a, const service_record& b);

private:
  friend struct record_codec<service_record>;
  void on(const dataset_registered& x);
  void on(const job_started& x);
  void on(const job_joined& x) { use(x.dataset_id, x.id); }
  void on(const job_over& x);
  void on(const worker_named& x) { last_worker_ = std::max(last_worker_, x.id); }
  void on(const worker_placed& x) { places_.insert_or_assign(x.entry, x.who); }
  void on(const worker_drains& x) { keep_draining(x.id); }
  void on(const worker_drained& x) { draining_.erase(x.id); }
  void on(const save_begun& x);
  void on(const save_ended& x);
  void keep_draining(worker_id id);
  /// 128 bits of a key's digest.
  using key_hash = std::array<uint64_t, 2>;
  static key_hash hash_of(const std::string& key);
  void keep_ended(const key_hash& key, ended_job what);
  void forget_ended(const key_hash& key);
  void use(const std::string& dataset_id, job_id by);
  /// Records that `user` (a job or a save) no longer needs the datasets that it used.
  void release(job_id user);
  /// The id of a save in its role as a user of datasets.
  static job_id user(save_id id) noexcept { return job_id{id.value}; }
  /// The bytes of graphs that have only unused ids. Returns 0 without counting them while all
  /// graphs together take at most `most_unused_bytes`.
  size_t unused_bytes() const;
  void drop_oldest(std::deque<std::string>& from);

  dataset_table datasets_;
  std::map<job_id, job> jobs_;
  std::map<std::string, job_id> by_key_;
  /// The ids for iterations, each with the jobs and saves that use it.
  std::map<std::string, std::set<job_id>> passing_;
  std::map<job_id, std::set<std::string>> used_by_; ///< by job or save: the ids that it uses
  std::deque<std::string> unused_;    ///< ids without a job, in the order of their registration
  std::deque<std::string> left_over_; ///< ids whose jobs are over, in the order of their ends
  worker_id last_worker_;
  std::map<uint32_t, worker_place> places_;
  std::set<worker_id> draining_;
  struct kept_end {
    ended_job what;
    uint64_t number = 0; ///< ascending in the order in which the jobs ended
  };
  std::map<key_hash, kept_end> ended_;
  std::map<uint64_t, key_hash> ended_in_order_;
  std::deque<job_id> collected_; ///< the jobs that were collected last
  std::map<save_id, save_entry> saves_;
  std::deque<save_view> ended_saves_; ///< the saves that ended last
};

} // namespace headrace::detail
