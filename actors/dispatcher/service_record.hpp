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
  /// Of so many named jobs that have ended it is known which repetitions are over. A name that
  /// ended before them begins anew.
  static constexpr size_t most_ended = 100'000;
  /// So many jobs are known to have been collected.
  static constexpr size_t most_collected = 1'000;
  /// Of so many workers it is known that they are to leave; those of the highest numbers.
  static constexpr size_t most_draining = 10'000;
  /// What became of so many saves is known.
  static constexpr size_t most_ended_saves = 1'000;

  struct job {
    job_id id;
    std::string name; ///< empty: anonymous
    std::string dataset_id;
    job_parameters parameters;
    std::string key; ///< who asks with this key means this job
    /// Under a static policy: how many workers the dispatcher's list had when it began.
    uint32_t shards = 0;
    /// Repetitions that were over before it began: earlier jobs of its key had them.
    job_past past = {};
    /// Of its parameters, as the dispatcher's deployment mode made them.
    target_workers targets = target_workers::automatic;
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
    /// Its repetitions that are over: who asks for them by its key is told so.
    job_past past = {};
    /// It ended as nobody read it, though it was not finished.
    bool collected = false;
    friend bool operator==(const job_over&, const job_over&) = default;
  };
  /// A worker got a number that no worker had before.
  struct worker_named {
    worker_id id;
    friend bool operator==(const worker_named&, const worker_named&) = default;
  };
  /// A worker has an entry of the dispatcher's list, which is its until it is gone and another one
  /// came for it.
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
  /// It has left.
  struct worker_drained {
    worker_id id;
    friend bool operator==(const worker_drained&, const worker_drained&) = default;
  };
  /// Workers are to write a dataset into a folder.
  struct save_begun {
    save_entry what;
    friend bool operator==(const save_begun&, const save_begun&) = default;
  };
  /// They have, or cannot.
  struct save_ended {
    save_view how;
    friend bool operator==(const save_ended&, const save_ended&) = default;
  };
  using fact = std::variant<dataset_registered, job_started, job_joined, job_over, worker_named,
                            worker_placed, worker_drains, worker_drained, save_begun, save_ended>;

  /// What holding a fact takes, roughly.
  static size_t bytes_of(const fact& what);

  void apply(const fact& what) {
    std::visit([this](const auto& x) { on(x); }, what);
  }

  const dataset_table& datasets() const noexcept { return datasets_; }
  /// Of datasets that somebody registers, which stay: how many ids, and how many bytes of graphs,
  /// with those that are for one iteration.
  static constexpr size_t most_registered = 100'000;
  static constexpr size_t most_registered_bytes = size_t{4} << 30;
  /// resource_exhausted if another one is too many.
  status has_room_for(const dataset_registration& what) const;
  /// How many datasets somebody registered.
  size_t registered() const noexcept { return datasets_.size() - passing_.size(); }
  const std::map<job_id, job>& jobs() const noexcept { return jobs_; }
  /// The highest number of a worker, which nobody gets a second time.
  worker_id last_worker() const noexcept { return last_worker_; }
  /// By entry of the dispatcher's list of workers.
  const std::map<uint32_t, worker_place>& places() const noexcept { return places_; }
  /// The worker is to leave in order, and did not yet.
  bool drains(worker_id id) const { return draining_.contains(id); }
  /// Saves that run.
  const std::map<save_id, save_entry>& saves() const noexcept { return saves_; }
  /// The latest that are over, in the order of their ends.
  const std::deque<save_view>& ended_saves() const noexcept { return ended_saves_; }
  /// Null if there is none.
  const job* job_of(const std::string& key) const {
    auto at = by_key_.find(key);
    return at != by_key_.end() ? &jobs_.at(at->second) : nullptr;
  }
  /// What is left of a named job that has ended.
  struct ended_job {
    job_id last; ///< the latest with that key
    job_past past;
    friend bool operator==(const ended_job&, const ended_job&) = default;
  };
  /// Null if no job with that key has ended lately, or one runs.
  const ended_job* ended(const std::string& key) const;
  size_t ended() const noexcept { return ended_.size(); }
  /// The job was collected, lately.
  bool was_collected(job_id id) const {
    return std::ranges::find(collected_, id) != collected_.end();
  }
  /// The dispatcher chose the id for one iteration.
  bool is_for_iteration(const std::string& dataset_id) const {
    return passing_.contains(dataset_id);
  }
  /// The id is for one iteration, and not known to be one of that job.
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
  /// Of a key: 128 bits of its digest.
  using key_hash = std::array<uint64_t, 2>;
  static key_hash hash_of(const std::string& key);
  void keep_ended(const key_hash& key, ended_job what);
  void forget_ended(const key_hash& key);
  void use(const std::string& dataset_id, job_id by);
  /// It needs no dataset any more.
  void release(job_id user);
  /// A save among the users of datasets.
  static job_id user(save_id id) noexcept { return job_id{id.value}; }
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
  std::map<uint32_t, worker_place> places_;
  std::set<worker_id> draining_;
  struct kept_end {
    ended_job what;
    uint64_t number = 0; ///< in the order of these ends
  };
  std::map<key_hash, kept_end> ended_;
  std::map<uint64_t, key_hash> ended_in_order_;
  std::deque<job_id> collected_; ///< the latest
  std::map<save_id, save_entry> saves_;
  std::deque<save_view> ended_saves_; ///< the latest
};

} // namespace headrace
