#pragma once

#include "headrace/actors/protocol/split_question.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace headrace {

/// A task wants splits of a source. All that it had of this source and pass before are read.
struct lease_request {
  task_id task;
  uint32_t source = 0;
  uint64_t pass = 0;
  std::optional<uint64_t> total; ///< splits in a pass, if the task knows
  /// Which question about this pass it is. One that is put again has the same answer; without a
  /// number every one is new.
  std::optional<uint64_t> number = {};
  /// What has these numbers, if the task found it out.
  std::shared_ptr<const split_listing> listing = {};
};

/// Leases the splits of one repetition of a job: the core of DYNAMIC.
///
/// Ranges by guided self-scheduling: what is left over twice the tasks, down to one as a source
/// runs out; and no more than the task reads in about `lease_time`, judged by its last lease, so
/// that a lost worker takes little with it whatever a split costs. A task's first lease is one
/// split, and leases grow at most eightfold. Sources of one group are leased jointly as equal
/// ranges; zipped ones that do not advance together in pieces of at most 8. A pass of a source is
/// over for a task only when no other task holds unread splits of it (waiting_leases: but for those
/// that wait for each other); what is given back after everybody was told the end is for a task to
/// come. Memory does not grow with splits, leases or passes. Pure: decisions are facts that change
/// it when they are applied, and the same facts make the same state, but for the pace of tasks.
class split_assigner {
public:
  /// How long a task should be busy with one lease.
  static constexpr duration lease_time = std::chrono::milliseconds{100};
  /// What takes less than this is not shared out any further: asking would cost more.
  static constexpr duration least_lease_time = std::chrono::milliseconds{2};
  /// What nobody reads of a pass is kept for tasks that have not come there yet, unless others are
  /// so many passes further.
  static constexpr uint64_t most_passes = 1024;
  /// Pieces in one answer.
  static constexpr size_t most_pieces = 256;

  explicit split_assigner(const split_plan& plan);

  // -- facts --------------------------------------------------------------------

  /// So many living tasks share the splits.
  struct shared_by {
    uint64_t tasks = 0;
    friend bool operator==(const shared_by&, const shared_by&) = default;
  };
  /// A task came to a pass of a source, and may know how many splits it has.
  struct came_to {
    task_id task;
    uint32_t source = 0;
    uint64_t pass = 0;
    std::optional<uint64_t> total;
    /// The first that came for that pass: all others must have found the same.
    std::optional<split_listing> listing = {};
    friend bool operator==(const came_to&, const came_to&) = default;
  };
  /// The answer to a task; nullopt: the pass is over for it.
  struct leased_to {
    task_id task;
    uint32_t source = 0;
    uint64_t pass = 0;
    std::optional<uint64_t> number;
    split_answer splits;
    /// It was given with the answer to the question before.
    bool continues = false;
    friend bool operator==(const leased_to&, const leased_to&) = default;
  };
  /// What it held is read, or was given back before this; of a lost task see lease_history.
  struct task_gone {
    task_id task;
    friend bool operator==(const task_gone&, const task_gone&) = default;
  };
  /// A task has not begun to read these: they are leased again.
  struct returned {
    uint32_t source = 0;
    uint64_t pass = 0;
    split_range splits;
    /// They are kept for a task to come. False: its pipeline was done with that pass, so that they
    /// are for those that still read it, and nobody's when all have left it.
    bool kept = true;
    friend bool operator==(const returned&, const returned&) = default;
  };
  /// The task reads no more of that pass, of any source of the group, though it is not over.
  struct closed {
    task_id task;
    uint32_t source = 0;
    uint64_t pass = 0;
    friend bool operator==(const closed&, const closed&) = default;
  };
  using fact = std::variant<shared_by, came_to, leased_to, task_gone, returned, closed>;
  void apply(const fact& what);

  // -- decisions ----------------------------------------------------------------

  /// What a request says before it is answered; nullopt: nothing new.
  std::optional<fact> note(const lease_request& wanted) const;
  /// The answer, after `note`: a piece, or the end of the pass, and further pieces for the
  /// questions that follow; nothing: ask again when something changed. `beside`: tasks that need
  /// not be waited for, whatever they hold (see waiting_leases).
  std::vector<leased_to> decide(const lease_request& wanted, const std::set<task_id>& beside,
                                time_point now) const;
  /// Tasks that hold unread splits of what is asked for, but for those `beside` it.
  std::vector<task_id> holders(const lease_request& wanted, const std::set<task_id>& beside) const;
  /// Why the task may not have splits: what it found is not what the first one found, so that their
  /// numbers mean something else. Ok if it may. `who` is named.
  status refused(const lease_request& wanted, std::string_view who) const;
  /// A task's pipeline is done with a pass: what that means. Nothing the second time.
  std::vector<fact> close(task_id task, const unread_splits& unread) const;
  /// What a task that leaves gives back: of what it was leased last.
  std::vector<returned> give_back(task_id task, const unread_splits& unread) const;
  /// The answer was given now: how fast tasks are is judged by that.
  void keep_pace(const std::vector<leased_to>& given, time_point now);

  // -- state ----------------------------------------------------------------------

  /// Were splits given back, by tasks that left or are lost, that nobody was leased since?
  bool has_rest() const noexcept;
  /// Was every source leased to its end, and is none of them started again? Then a task that began
  /// now would get nothing.
  bool spent() const;
  /// Was the task leased splits of a source from whose cache in memory it reads later passes? When
  /// it goes, these passes lack them.
  bool keeps_passes(task_id task) const;
  /// Of how many inputs zips hold a row when they read this source.
  uint32_t read_behind(uint32_t source) const noexcept {
    return source < plan_.sources.size() ? plan_.sources[source].behind : 0;
  }
  /// Splits leased so far.
  uint64_t leased() const noexcept { return leased_; }
  /// Leases, passes and tasks that are remembered.
  size_t records() const noexcept;
  /// Equal but for the pace of tasks.
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
    std::deque<split_range> returned;           ///< leased again before `next` is
    bool keeps = false;                         ///< also when all tasks have left the pass
    bool remnant = false;                       ///< it was forgotten: only what came back is left
    std::optional<task_id> reader;              ///< was leased splits of it
    bool shared = false;                        ///< and another one, too
    std::map<uint32_t, split_listing> listings; ///< by source, if tasks found them out
    void lease(const split_range& splits);
    /// There are no splits from here on.
    void end_at(uint64_t most);
    friend bool operator==(const pass_state&, const pass_state&) = default;
  };
  /// What one task has of one pass of one group.
  struct holding {
    std::deque<split_range> ranges;     ///< not told to every source of the group yet
    uint64_t dropped = 0;               ///< ranges before these
    uint64_t end = 0;                   ///< of the last one, for the first source it was told
    std::map<uint32_t, uint64_t> given; ///< by source: how many ranges it was told
    std::set<uint32_t> done;            ///< sources that were told the end
    bool unread(uint32_t source) const;
    friend bool operator==(const holding&, const holding&) = default;
  };
  /// How fast a task goes through a group.
  struct pace {
    uint64_t last_count = 0;
    time_point last_at{};
  };
  /// The last answer to a task about a source, with what was given for the questions that follow.
  struct answered {
    uint64_t pass = 0;
    uint64_t number = 0; ///< of the first of them
    std::vector<split_answer> pieces;
    const split_answer* find(uint64_t of_pass, uint64_t of_number) const {
      return of_pass == pass && of_number >= number && of_number - number < pieces.size()
               ? &pieces[of_number - number]
               : nullptr;
    }
    friend bool operator==(const answered&, const answered&) = default;
  };
  struct group_state {
    std::vector<uint32_t> sources;
    std::optional<uint64_t> total;
    bool in_pairs = false; ///< read side by side with others that advance at another pace
    /// Passes below are over and forgotten, but for those of which splits were given back.
    uint64_t passes_over = 0;
    std::map<std::pair<task_id, uint32_t>, uint64_t> at; ///< by task and source: its pass
    std::map<task_id, pace> paces;
    friend bool operator==(const group_state& a, const group_state& b) {
      return a.sources == b.sources && a.total == b.total && a.in_pairs == b.in_pairs
             && a.passes_over == b.passes_over && a.at == b.at;
    }
  };
  uint32_t group_of(uint32_t source) const noexcept;
  group_state& group(uint32_t number, uint32_t source);
  /// How many splits a pass has, as far as is known.
  std::optional<uint64_t> total_of(key where) const;
  uint64_t least(const pace& of, time_point now) const;
  uint64_t paced(const pace& of, time_point now) const;
  void on(const shared_by& x);
  void on(const came_to& x);
  void on(const leased_to& x);
  void on(const task_gone& x);
  void on(const returned& x);
  void on(const closed& x);
  /// How many splits a task may be leased, of so many that are left.
  uint64_t size_of(const group_state& g, task_id task, bool has_end, uint64_t left,
                   time_point now) const;
  /// How that pass is over for a task, if it is.
  pass_over over_for(task_id task, key where) const;
  /// All tasks have come to later passes, or some to much later ones.
  bool is_left(key where) const;
  void forget_if_over(key where);
  /// Of the passes that were over before splits of them were given back.
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

} // namespace headrace
