#pragma once

#include "headrace/actors/job/splits/split_assigner.hpp"
#include "headrace/actors/protocol/iteration_losses.hpp"
#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::detail {

/// Records the leases of the tasks of one repetition, and which leased splits may have reached a
/// reader. When a task is lost, its readers send receipts. Splits that reached no reader are read
/// again, if the graph allows that. All other splits of which rows may be missing are counted as
/// lost.
///
/// Under at_least_once, tasks report which splits are done, and these are removed. The remaining
/// splits of a lost task are read again, except, if each split makes at most one row, the splits
/// whose rows readers have received. If one of these readers is lost before it has handed out its
/// rows, the excepted splits are read again, too. So are the remaining splits of a task that ended
/// or left, if a lost reader held rows of the task.
///
/// The memory is bounded: the last `least_leases` leases of each task are remembered, or, if that
/// is more, the task's equal share of `most_leases`. Earlier leases count as delivered (under
/// at_least_once as lost, if the task is lost). Pure: it changes only by facts, and the same facts
/// make the same state.
class lease_history {
public:
  static constexpr size_t least_leases = 16384;
  static constexpr size_t most_leases = size_t{1} << 18;

  /// `rounds`: the readers take part in coordinated reads. Rows that one of them does not hand out
  /// go to no other reader.
  explicit lease_history(const split_plan& plan,
                         delivery_guarantee guarantee = delivery_guarantee::at_most_once,
                         bool rounds = false);

  // -- facts --------------------------------------------------------------------

  /// A task is lost. These readers may have rows of it, and have to send receipts.
  struct lost {
    task_id task;
    std::vector<consumer_id> readers;
    friend bool operator==(const lost&, const lost&) = default;
  };
  /// A reader sent its receipt for a task.
  struct received {
    consumer_id who;
    split_receipt what;
    friend bool operator==(const received&, const received&) = default;
  };
  /// A reader is gone and sent no receipts. For a living task the job will get an account instead;
  /// for a lost task it is unknown which rows reached the reader.
  struct unheard {
    consumer_id who;
    uint64_t version = 0; ///< the first version of the list TaskReaders without the reader
    friend bool operator==(const unheard&, const unheard&) = default;
  };
  /// A task sent its account, which covers all readers that were gone at that version of the list
  /// of readers that the job sends to the task (TaskReaders).
  struct given {
    task_id task;
    uint64_t version = 0;
    split_receipt what;
    /// The total of elements that no reader is given, because readers that are gone may have handed
    /// them out.
    uint64_t lost = 0;
    friend bool operator==(const given&, const given&) = default;
  };
  /// A lost task is settled: it is removed, unless its leases are kept.
  struct settled {
    task_id task;
    iteration_losses lost; ///< the losses of that task
    friend bool operator==(const settled&, const settled&) = default;
  };
  /// A task reports which splits are done: for each source, all splits up to a place in the order
  /// of the task's leases.
  struct done {
    task_id task;
    std::vector<splits_done> places;
    friend bool operator==(const done&, const done&) = default;
  };
  /// The task is over or settled, and readers hold rows of it: its leases are kept.
  struct kept {
    task_id task;
    friend bool operator==(const kept&, const kept&) = default;
  };
  /// Readers have handed out all rows that they held of a kept task, or its splits are read again:
  /// the task is removed.
  struct released {
    task_id task;
    iteration_losses lost; ///< counts the splits of that task that are read again
    friend bool operator==(const released&, const released&) = default;
  };
  using fact = std::variant<lost, received, unheard, given, settled, done, kept, released>;
  void apply(const fact& what);
  /// Applies a fact of the assigner: leases or returned splits.
  void apply(const split_assigner::fact& what);
  /// A reader that held rows of these tasks is gone (`held_rows::reader_gone`).
  void lose_holder(const std::vector<task_id>& of);

  // -- decisions ------------------------------------------------------------------

  /// The outcome for a lost task once all its readers have sent receipts: the splits to be read
  /// again, and then the fact that the task is settled.
  struct settlement {
    std::vector<split_assigner::returned> back;
    settled outcome;
  };
  /// The outcome for one lost task that can be settled; nullopt if there is none.
  std::optional<settlement> settle() const;

  /// The outcome for a kept task when one of its readers is gone and held rows: the splits to be
  /// read again, and then the fact that the task is removed.
  struct rereading {
    std::vector<split_assigner::returned> back;
    released outcome;
  };
  /// nullopt: the leases of the task are not kept.
  std::optional<rereading> read_again(task_id task) const;

  // -- state ------------------------------------------------------------------------

  /// True if leases of the task are recorded.
  bool has(task_id task) const { return tasks_.contains(task); }
  /// True if the task is over, and its leases are kept.
  bool keeps(task_id task) const { return kept_.contains(task); }
  /// True if that reader has to send a receipt for the task.
  bool awaits(task_id task, consumer_id who) const;
  /// True if a lost task other than `but_for` is not settled.
  bool unsettled(task_id but_for = {}) const noexcept {
    return lost_.size() > (lost_.contains(but_for) ? 1 : 0);
  }
  /// The losses so far.
  const iteration_losses& losses() const noexcept { return losses_; }
  /// The number of remembered leases, and of other entries.
  size_t records() const noexcept;

  friend bool operator==(const lease_history& a, const lease_history& b) {
    return a.tasks_ == b.tasks_ && a.lost_ == b.lost_ && a.kept_ == b.kept_
           && a.losses_ == b.losses_;
  }

private:
  friend struct state_codec<lease_history>;
  /// Whether readers have rows of the splits of a lease.
  enum class held_by : uint8_t {
    nobody,
    perhaps, ///< a reader that is gone may have some; the account of the living task will show it
    unknown, ///< a reader may have some, and no report will show whether it has
    reader,
  };
  struct lease {
    split_run splits; ///< the splits of the first source of the group
    held_by at = held_by::nobody;
    friend bool operator==(const lease&, const lease&) = default;
  };
  struct task_leases {
    std::deque<lease> all; ///< in the order in which they were leased
    /// By the first source of a group, and by pass: the number of answers. An answer that is
    /// repeated, or that is for another source of the group, is not a new lease.
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> answered;
    /// Set when the task is lost: for each reader, the split of the newest row that it received. In
    /// coordinated reads, until the task is lost: of each reader that left, the split of the newest
    /// row that it was handed.
    std::vector<split_run> newest;
    /// Rows that come before the newest rows of the readers may be missing.
    bool out_of_order = false;
    uint64_t given_back = 0; ///< rows that readers gave back
    uint64_t untold = 0;     ///< not 0: an account for this version of TaskReaders is still to come
    uint64_t lost_elements = 0; ///< elements that were lost with readers, as the task reported
    /// Under at_least_once: the number of splits whose old records were removed to save memory.
    uint64_t forgotten = 0;
    friend bool operator==(const task_leases&, const task_leases&) = default;
  };

  /// The index of a task's lease, and of a split in it.
  using place = std::pair<size_t, uint64_t>;

  void on(const lost& x);
  void on(const received& x);
  void on(const unheard& x);
  void on(const given& x);
  /// Records which splits of a task's leases have reached a reader, according to a receipt.
  void mark(task_leases& of, const split_receipt& what) const;
  void on(const settled& x);
  void on(const done& x);
  void on(const kept& x);
  void on(const released& x);
  void leased(const split_assigner::leased_to& x);
  /// Removes returned splits from the leases of those tasks for which `whose` returns true.
  template <class Whose>
  void given_back(const split_assigner::returned& x, Whose whose);
  /// The place of the first split of a source that is not done.
  place first_not_done(const task_leases& of, const splits_done& at) const;
  settlement settle_for_good(task_id id, const task_leases& of) const;
  uint32_t first_of_group(uint32_t source) const;
  /// The place of the first split that may be lost.
  place first_doubtful(const task_leases& of) const;

  bool at_least_once() const noexcept { return guarantee_ == delivery_guarantee::at_least_once; }

  split_rows rows_;
  delivery_guarantee guarantee_;
  bool rounds_;
  std::vector<uint32_t> first_of_group_; ///< by source: the first source of its group
  std::map<task_id, task_leases> tasks_;
  /// By lost task: the readers that have not sent receipts.
  std::map<task_id, std::set<consumer_id>> lost_;
  std::set<task_id> kept_; ///< a subset of `tasks_`
  iteration_losses losses_;
};

} // namespace headrace::detail
