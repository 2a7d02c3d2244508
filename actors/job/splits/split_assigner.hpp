#pragma once

#include "headrace/actors/protocol/split_question.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headrace::detail {

/// A task's request for splits of a source. The task has read all splits of this source and pass
/// that it was given before.
struct lease_request {
  task_id task;
  uint32_t source = 0;
  uint64_t pass = 0;
  std::optional<uint64_t> total; ///< splits in a pass, if the task has found their number
  /// The number of the question about this pass. A repeated question gets the same answer; without
  /// a number, each question is a new one.
  std::optional<uint64_t> number = {};
  /// The listing of the source, if it has one.
  std::shared_ptr<const split_listing> listing = {};
};

/// Leases the splits of one repetition of a job under DYNAMIC.
///
/// The size of a lease follows guided self-scheduling: the remaining splits, divided by twice the
/// number of tasks, down to one split at the end of a source. A lease is also no larger than what
/// the task reads in about `lease_time`, estimated from its last lease, so that few splits are lost
/// with a worker, whatever the cost of a split. A task's first lease is one split, and a lease is
/// at most eight times as large as the one before. Sources of one group are leased equal ranges
/// together; of zipped sources that do not advance together, at most 8 splits are leased at once.
///
/// A pass of a source is over for a task only when no other task holds unread splits of it, except
/// tasks that wait for each other (waiting_leases). Splits that are given back after all tasks were
/// sent the end are read by a task that begins later. The memory does not grow with the number of
/// splits, leases or passes.
///
/// Pure: it changes only by facts, and the same facts make the same state, except for the pace of
/// tasks.
class split_assigner {
public:
  /// The time for which a lease should keep a task busy.
  static constexpr duration lease_time = std::chrono::milliseconds{100};
  /// A lease is not made smaller than what the task reads in this time, because the requests would
  /// cost more time than smaller leases save.
  static constexpr duration least_lease_time = std::chrono::milliseconds{2};
  /// Returned splits of a pass are kept for tasks that have not reached that pass, until other
  /// tasks are this many passes further.
  static constexpr uint64_t most_passes = 1024;
  /// The most pieces in one answer.
  static constexpr size_t most_pieces = 256;

  explicit split_assigner(const split_plan& plan);

  // -- facts --------------------------------------------------------------------

  /// The number of living tasks that share the splits.
  struct shared_by {
    uint64_t tasks = 0;
    friend bool operator==(const shared_by&, const shared_by&) = default;
  };
  /// A task has reached a pass of a source, and may have found the number of its splits.
  struct came_to {
    task_id task;
    uint32_t source = 0;
    uint64_t pass = 0;
    std::optional<uint64_t> total;
    /// The listing of the first task that reached the pass. All other tasks must have the same
    /// listing.
    std::optional<split_listing> listing = {};
    friend bool operator==(const came_to&, const came_to&) = default;
  };
  /// The answer to a task's question.
  struct leased_to {
    task_id task;
    uint32_t source = 0;
    uint64_t pass = 0;
    std::optional<uint64_t> number;
    split_answer splits;
    /// The piece was sent with the answer to an earlier question.
    bool continues = false;
    friend bool operator==(const leased_to&, const leased_to&) = default;
  };
  /// The task is over: it has read the splits that were leased to it, or gave them back before. For
  /// a lost task see lease_history.
  struct task_gone {
    task_id task;
    friend bool operator==(const task_gone&, const task_gone&) = default;
  };
  /// Splits that a task was leased and that must be leased again.
  struct returned {
    uint32_t source = 0;
    uint64_t pass = 0;
    split_range splits;
    /// True: the splits are kept until a task comes that reads them. False: the task closed the
    /// pass, so they are only for tasks that still read the pass.
    bool kept = true;
    friend bool operator==(const returned&, const returned&) = default;
  };
  /// The task has closed that pass, for all sources of the group.
  struct closed {
    task_id task;
    uint32_t source = 0;
    uint64_t pass = 0;
    friend bool operator==(const closed&, const closed&) = default;
  };
  using fact = std::variant<shared_by, came_to, leased_to, task_gone, returned, closed>;
  void apply(const fact& what);

  // -- decisions ----------------------------------------------------------------

  /// The fact that follows from the content of a request; nullopt: the request contains nothing
  /// new.
  std::optional<fact> note(const lease_request& wanted) const;
  /// Returns the answer to a request: a piece (a range of splits) or the end of the pass, and
  /// further pieces for the following questions. Empty: the question must wait until something
  /// changes. `beside`: tasks for whose unread splits the answer need not wait (see
  /// waiting_leases). To be called after `note`.
  std::vector<leased_to> decide(const lease_request& wanted, const std::set<task_id>& beside,
                                time_point now) const;
  /// True if the answer is a repeated one: as a fact it changes nothing.
  bool has_given(const leased_to& what) const;
  /// The tasks that hold unread splits of that source and pass, except those in `beside`.
  std::vector<task_id> holders(const lease_request& wanted, const std::set<task_id>& beside) const;
  /// Not ok: the task's listing differs from that of the first task, so the same split numbers
  /// stand for different splits. The error names `who`.
  status refused(const lease_request& wanted, std::string_view who) const;
  /// The facts that follow when a task closes a pass. There are none when it closes the pass a
  /// second time.
  std::vector<fact> close(task_id task, const unread_splits& unread) const;
  /// The splits of the pass that a task has not begun. @pre it sent no question after `unread`
  std::vector<returned> give_back(task_id task, const unread_splits& unread) const;
  /// The splits that a leaving task gives back, also those of answers that have not reached it.
  std::vector<returned> leave(task_id task, const unread_splits& unread) const;
  /// Records that the answers were given now. The pace of tasks is estimated from these times.
  void keep_pace(const std::vector<leased_to>& given, time_point now);

  // -- state ----------------------------------------------------------------------

  /// True if splits were returned by tasks that left or are lost, and were not leased since.
  bool has_rest() const noexcept;
  /// True if every source was leased to its end and will not be started again, so that a new task
  /// would get nothing.
  bool spent() const;
  /// True if the task was leased splits of a source whose later passes it reads from a cache in
  /// memory. When the task is gone, its splits are missing from these passes.
  bool keeps_passes(task_id task) const;
  /// The number of inputs of which a zip holds a row while it reads this source.
  uint32_t read_behind(uint32_t source) const noexcept {
    return source < plan_.sources.size() ? plan_.sources[source].behind : 0;
  }
  /// The number of splits leased so far, minus the number of those that were returned.
  uint64_t leased() const noexcept { return leased_; }
  /// The number of stored entries for leases, passes, answers, groups and tasks.
  size_t records() const noexcept;
  /// Compares all but the pace of tasks.
  friend bool operator==(const split_assigner& a, const split_assigner& b) {
    return a.tasks_ == b.tasks_ && a.groups_ == b.groups_ && a.passes_ == b.passes_
           && a.holdings_ == b.holdings_ && a.answered_ == b.answered_ && a.leased_ == b.leased_;
  }

private:
  friend struct state_codec<split_assigner>;
  using key = std::pair<uint64_t, uint32_t>; ///< pass, group
  struct pass_state {
    uint64_t next = 0;
    std::optional<uint64_t> total;
    std::deque<split_range> returned; ///< leased again before new ones
    bool keeps = false;   ///< returned splits are kept even if all tasks have left the pass
    bool remnant = false; ///< the pass was over before: only returned splits are left of it
    std::optional<task_id> reader;              ///< a task that was leased splits of the pass
    bool shared = false;                        ///< another task was leased splits, too
    std::map<uint32_t, split_listing> listings; ///< by source; only of sources that have one
    void lease(const split_range& splits);
    /// Records that the pass has at most `most` splits.
    void end_at(uint64_t most);
    friend bool operator==(const pass_state&, const pass_state&) = default;
  };
  /// The leases of one task in one pass of one group.
  struct holding {
    /// The ranges that were not sent to every source of the group yet.
    std::deque<split_range> ranges;
    uint64_t dropped = 0;               ///< the number of ranges that came before these
    uint64_t end = 0;                   ///< the end of the last range, as it was first leased
    std::map<uint32_t, uint64_t> given; ///< by source: the number of ranges that it was sent
    std::set<uint32_t> done;            ///< sources that were sent the end of the pass
    bool unread(uint32_t source) const;
    friend bool operator==(const holding&, const holding&) = default;
  };
  /// A task's last lease of a group, from which the pace of the task is estimated.
  struct pace {
    uint64_t last_count = 0;
    time_point last_at{};
  };
  /// The last answer to a task about a source, with the pieces for the following questions.
  struct answered {
    uint64_t pass = 0;
    uint64_t number = 0; ///< the number of the question that the first piece answers
    std::vector<split_answer> pieces;
    const split_answer* find(uint64_t of_pass, uint64_t of_number) const {
      return of_pass == pass && of_number >= number && of_number - number < pieces.size()
               ? &pieces[of_number - number]
               : nullptr;
    }
    bool is_before(const answered& other) const {
      return std::pair{pass, number + pieces.size()}
             < std::pair{other.pass, other.number + other.pieces.size()};
    }
    friend bool operator==(const answered&, const answered&) = default;
  };
  struct group_state {
    std::vector<uint32_t> sources;
    std::optional<uint64_t> total;
    /// The group has one source, which a zip reads together with sources of other groups.
    bool in_pairs = false;
    /// The number of passes that are over. These are forgotten, except those of which splits were
    /// returned.
    uint64_t passes_over = 0;
    /// By task and source: the pass that the task has reached.
    std::map<std::pair<task_id, uint32_t>, uint64_t> at;
    std::map<task_id, pace> paces;
    friend bool operator==(const group_state& a, const group_state& b) {
      return a.sources == b.sources && a.total == b.total && a.in_pairs == b.in_pairs
             && a.passes_over == b.passes_over && a.at == b.at;
    }
  };
  uint32_t group_of(uint32_t source) const noexcept;
  /// The pieces of the answer that are not begun according to `unread`.
  std::vector<returned> pieces_from(task_id task, const unread_splits& unread,
                                    const answered& last) const;
  group_state& group(uint32_t number, uint32_t source);
  /// The number of splits in a pass, if it is known.
  std::optional<uint64_t> total_of(key where) const;
  uint64_t least(const pace& of, time_point now) const;
  uint64_t paced(const pace& of, time_point now) const;
  void on(const shared_by& x);
  void on(const came_to& x);
  void on(const leased_to& x);
  void on(const task_gone& x);
  void on(const returned& x);
  void on(const closed& x);
  /// The size of a task's next lease, in splits, if `left` splits are left. `has_end`: the number
  /// of splits in the pass is known.
  uint64_t size_of(const group_state& g, task_id task, bool has_end, uint64_t left,
                   time_point now) const;
  /// The report that the pass is over for a task. @pre the pass is over
  pass_over over_for(task_id task, key where) const;
  /// True if all tasks have reached later passes, or some have reached much later ones.
  bool is_left(key where) const;
  void forget_if_over(key where);
  /// Forgets those passes before `passes_over` whose returned splits were all leased again, and
  /// whose end was sent to all tasks that read them.
  void forget_late(uint32_t number);
  bool all_done(key where) const;

  split_plan plan_;
  size_t tasks_ = 1;
  std::map<uint32_t, group_state> groups_;
  std::map<key, pass_state> passes_;
  std::map<key, std::map<task_id, holding>> holdings_;
  std::map<std::pair<task_id, uint32_t>, answered> answered_;
  uint64_t leased_ = 0;
};

} // namespace headrace::detail
