#pragma once

#include "headrace/actors/job/split_assigner.hpp"
#include "headrace/actors/protocol/iteration_losses.hpp"
#include "headrace/actors/protocol/split_receipt.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"

#include <deque>
#include <map>
#include <set>
#include <utility>
#include <variant>
#include <vector>

namespace headrace {

/// What the tasks of one repetition were leased, and what of it may have reached a reader. When a
/// task is lost, its readers say of which splits they got rows; what nobody got is read again by
/// others, where the graph allows that, and the rest is counted as lost.
///
/// Under at_least_once tasks say what they and their readers are done with, which is forgotten.
/// What remains of a lost task is read again, but for splits of one row that a reader has. If such
/// a reader dies before it has handed out its rows, these are read again, too; and so is what
/// remains of a task that left in order, and of which a dead reader held rows.
///
/// Bounded: of each task the last `least_leases` are remembered, or more where that is less than
/// `most_leases` for all tasks; earlier ones count as delivered (under at_least_once: as lost, if
/// the task is). Pure: changes only by facts, and the same facts make the same state.
class lease_history {
public:
  static constexpr size_t least_leases = 16384;
  static constexpr size_t most_leases = size_t{1} << 18;

  explicit lease_history(const split_plan& plan,
                         delivery_guarantee guarantee = delivery_guarantee::at_most_once);

  // -- facts --------------------------------------------------------------------

  /// A task is lost. These may have rows of it, and are asked which.
  struct lost {
    task_id task;
    std::vector<consumer_id> readers;
    friend bool operator==(const lost&, const lost&) = default;
  };
  /// A reader says what it got of a task.
  struct received {
    consumer_id who;
    split_receipt what;
    friend bool operator==(const received&, const received&) = default;
  };
  /// A reader is gone and did not say what it got. Of a task that lives, that task says it; else it
  /// may be anything.
  struct unheard {
    consumer_id who;
    uint64_t version = 0; ///< the first of the TaskReaders that do not name it
    friend bool operator==(const unheard&, const unheard&) = default;
  };
  /// A task says of which splits its readers were given rows. Of those that were gone at that
  /// version nothing more is to be known.
  struct given {
    task_id task;
    uint64_t version = 0;
    split_receipt what;
    /// Elements so far that nobody is given as readers which are gone may have handed them out.
    uint64_t lost = 0;
    friend bool operator==(const given&, const given&) = default;
  };
  /// What became of the splits of a lost task is known, and it is forgotten.
  struct settled {
    task_id task;
    iteration_losses lost; ///< with it
    friend bool operator==(const settled&, const settled&) = default;
  };
  /// A task and its readers are done with splits: of each source that it was leased, all up to a
  /// place.
  struct done {
    task_id task;
    std::vector<splits_done> places;
    friend bool operator==(const done&, const done&) = default;
  };
  /// The task is over, or is settled now, and readers hold rows of it: what they hold is
  /// remembered.
  struct kept {
    task_id task;
    friend bool operator==(const kept&, const kept&) = default;
  };
  /// Readers have handed out what they held of such a task, or it is read again: it is forgotten.
  struct released {
    task_id task;
    iteration_losses lost; ///< with its readers
    friend bool operator==(const released&, const released&) = default;
  };
  using fact = std::variant<lost, received, unheard, given, settled, done, kept, released>;
  void apply(const fact& what);
  /// What the assigner's facts mean here.
  void apply(const split_assigner::fact& what);

  // -- decisions ------------------------------------------------------------------

  /// Facts that say what became of a lost task whose readers have all said what they got: first
  /// what goes to others, then that it is settled.
  struct settlement {
    std::vector<split_assigner::returned> back;
    settled outcome;
  };
  /// Of one lost task that can be settled; nullopt: there is none.
  std::optional<settlement> settle() const;

  /// Of a task that is `kept`, when one of its readers is gone with rows: what goes to others.
  struct rereading {
    std::vector<split_assigner::returned> back;
    released outcome;
  };
  /// nullopt: it is not kept.
  std::optional<rereading> read_again(task_id task) const;

  // -- state ------------------------------------------------------------------------

  /// Was the task leased anything that may be lost with it?
  bool has(task_id task) const { return tasks_.contains(task); }
  /// Is it over, and remembered for its readers?
  bool keeps(task_id task) const { return kept_.contains(task); }
  /// Is that reader asked what it got of the task?
  bool awaits(task_id task, consumer_id who) const;
  /// Is there a lost task, but for that one, of which it is not known yet what is lost?
  bool unsettled(task_id but_for = {}) const noexcept {
    return lost_.size() > (lost_.contains(but_for) ? 1 : 0);
  }
  /// So far.
  const iteration_losses& losses() const noexcept { return losses_; }
  /// Leases that are remembered.
  size_t records() const noexcept;

  friend bool operator==(const lease_history& a, const lease_history& b) {
    return a.tasks_ == b.tasks_ && a.lost_ == b.lost_ && a.kept_ == b.kept_
           && a.losses_ == b.losses_;
  }

private:
  friend struct state_codec<lease_history>;
  /// Which readers have rows of a split.
  enum class held_by : uint8_t {
    nobody,
    perhaps, ///< one that is gone; the task, which lives, knows it
    unknown, ///< perhaps one that is gone and did not say it
    reader,
  };
  struct lease {
    split_run splits; ///< of the first source of a group
    held_by at = held_by::nobody;
    friend bool operator==(const lease&, const lease&) = default;
  };
  struct task_leases {
    std::deque<lease> all; ///< in the order in which they were given
    /// By the first source of a group, and pass: the number of answers. One that is given again,
    /// or to another source of the group, is no other lease.
    std::map<std::pair<uint32_t, uint64_t>, uint64_t> answered;
    std::vector<split_run> newest; ///< of each reader, when it is lost
    /// Rows may be missing before the newest of all readers.
    bool out_of_order = false;
    uint64_t given_back = 0; ///< rows, by readers
    uint64_t untold = 0; ///< the task has to say what readers got that were gone at this version
    uint64_t lost_elements = 0; ///< with readers, as the task said
    uint64_t forgotten = 0;     ///< splits that there was no room for, under at_least_once
    friend bool operator==(const task_leases&, const task_leases&) = default;
  };

  /// Which of a task's leases, and which of its splits.
  using place = std::pair<size_t, uint64_t>;

  void on(const lost& x);
  void on(const received& x);
  void on(const unheard& x);
  void on(const given& x);
  /// What is named has reached a reader.
  void mark(task_leases& of, const split_receipt& what) const;
  void on(const settled& x);
  void on(const done& x);
  void on(const kept& x);
  void on(const released& x);
  void leased(const split_assigner::leased_to& x);
  /// `of`: whose leases they were taken from; all tasks if that is not known.
  template <class Whose>
  void given_back(const split_assigner::returned& x, Whose whose);
  /// The place where what is not done of a source begins, among the task's leases.
  place first_not_done(const task_leases& of, const splits_done& at) const;
  settlement settle_for_good(task_id id, const task_leases& of) const;
  uint32_t first_of_group(uint32_t source) const;
  /// Where what may be lost begins.
  place first_doubtful(const task_leases& of) const;

  bool at_least_once() const noexcept { return guarantee_ == delivery_guarantee::at_least_once; }

  split_rows rows_;
  delivery_guarantee guarantee_;
  std::vector<uint32_t> first_of_group_; ///< by source
  std::map<task_id, task_leases> tasks_;
  std::map<task_id, std::set<consumer_id>> lost_; ///< and who has not said what it got
  std::set<task_id> kept_;                        ///< of those in `tasks_`
  iteration_losses losses_;
};

} // namespace headrace
