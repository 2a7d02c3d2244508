#pragma once

#include "headrace/actors/job/round_table.hpp"
#include "headrace/actors/protocol/local_reads.hpp"
#include "headrace/actors/protocol/worker_info.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/runtime/base/status.hpp"

#include <map>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

namespace headrace::detail {

/// The work that may be left when no task of a repetition is busy, and the workers that could do
/// it.
struct job_remainder {
  /// There are splits that were given back, or returned from lost tasks, and not leased since.
  bool splits = false;
  /// The job does not have all receipts for lost tasks: some of their splits may have to be read
  /// again.
  bool unsettled = false;
  /// Readers hold rows of tasks that are over, so the repetition is not finished yet.
  bool held = false;
  bool spent = false; ///< every source was leased to its end, so a new task would get no splits
  std::vector<worker_info> alive; ///< living workers that are not about to leave
};

/// One repetition of a job: its tasks, its readers, and when it is finished. Pure: const members
/// decide on events and return facts and commands; `apply` changes the state by a fact. The same
/// facts make the same state. The splits are in `split_assigner`.
class iteration {
public:
  /// `left`: the task ended in order before it had given everything, because its worker left, no
  /// reader read it, or the rounds began anew; other tasks read the splits that it had not read
  /// (under a static policy: its shard from the beginning)
  enum class task_state : uint8_t { starting, running, ended, failed, lost, left };
  /// Totals of what a task has produced.
  using output = task_output_counts;
  struct task {
    task_id id;
    incarnation life;
    worker_info worker;
    task_state state = task_state::starting;
    output made; ///< set when the task reports its end
    /// Set when the task leaves, or when splits of it are returned: the number of the newest task
    /// of the repetition at that time. Once a later task has ended, it was offered the splits.
    uint64_t newest = 0;
    bool ran = false; ///< the worker has confirmed at some time that the task runs
    /// The task ended before its sources were exhausted, because its pipeline takes only a part of
    /// them.
    bool by_itself = false;

    bool alive() const noexcept {
      return state == task_state::starting || state == task_state::running;
    }
    /// True if it is a task of that incarnation of the worker.
    bool runs_on(const worker_info& who) const {
      return worker.id == who.id && worker.life == who.life;
    }
    friend bool operator==(const task&, const task&) = default;
  };

  // -- facts --------------------------------------------------------------------

  struct reader_joined {
    consumer_id who;
    uint64_t node = 0;  ///< the node that the reader reads from; zero: any
    uint64_t place = 0; ///< the place of the reader's process; zero: no worker is local to it
    uint32_t index = 0; ///< in coordinated reads: the reader's seat
    friend bool operator==(const reader_joined&, const reader_joined&) = default;
  };
  struct reader_left {
    consumer_id who;
    round_table::absence from = {}; ///< in coordinated reads: where it has left the rounds
    uint64_t up_to = 0;             ///< as for `round_table::leave_seat`
    friend bool operator==(const reader_left&, const reader_left&) = default;
  };
  /// A new task, or the new state of a task.
  struct task_is {
    task now;
    friend bool operator==(const task_is&, const task_is&) = default;
  };
  struct finished_as {
    status how;
    friend bool operator==(const finished_as&, const finished_as&) = default;
  };
  using fact = std::variant<reader_joined, reader_left, task_is, finished_as, round_table::proposed,
                            round_table::agreed>;

  /// The effects of a decision, once its facts are stored.
  struct commands {
    std::vector<task> stop;
    std::vector<task> start;
    /// The tasks in `start` may lease splits before a reader opens a stream: the answer to the only
    /// reader's request to join names the tasks, so this reader cannot miss their rows.
    bool eager = false;
    /// Tasks that are over or lost: their questions are dropped, and facts about their splits are
    /// added (`job_record::facts_of`).
    std::vector<task_id> forget;
    /// The readers are to be sent the new state.
    bool announce = false;
  };
  struct decision {
    std::vector<fact> facts;
    commands todo;
  };

  /// `first_task`: the number before the first task id; ids are counted up from there, in a range
  /// that no other repetition uses.
  /// `shards`: under a static policy, the number of shards, each of which must be read to its end.
  /// `reads`: decides which workers have a reader; workers without one get no task.
  iteration(sharding_policy mode, uint64_t repetition, uint64_t first_task, uint32_t shards = 0,
            reading_rule reads = {})
    : mode_(mode),
      shards_(shards),
      reads_(reads),
      repetition_(repetition),
      last_task_(first_task),
      rounds_(reads.num_consumers) {}

  // -- decisions ----------------------------------------------------------------

  /// `node`: the node that the consumer reads from; zero: any.
  decision consumer_joined(consumer_id who, const std::vector<worker_info>& alive,
                           uint64_t node = 0, uint64_t place = 0, uint32_t index = 0) const;
  decision consumer_left(consumer_id who, const round_table::absence& from = {},
                         uint64_t up_to = 0) const;
  /// There are readers, but none of them reads the tasks that `unread_tasks` returns. Under DYNAMIC
  /// and static policies the work of these tasks is assigned to other tasks; under OFF the
  /// repetition does not wait for them.
  decision leave_unread(const job_remainder& rest = {}) const;
  decision worker_joined(const worker_info& who) const;
  /// The workers that are alive when a new core of the job begins. Some may have registered while
  /// there was no core.
  decision workers_present(const std::vector<worker_info>& alive) const;
  decision worker_lost(worker_id who, const job_remainder& rest = {}) const;
  /// The worker has confirmed that it runs the task, or has answered that it cannot start it.
  /// `aborted`: the worker had run the task and has it no more.
  decision task_started(task_id id, const status& how, const job_remainder& rest = {}) const;
  /// The task has given everything to its readers, or has failed. `by_itself`: its pipeline ended
  /// before its sources did.
  decision task_ended(task_id id, incarnation life, output made, const status& how,
                      const job_remainder& rest = {}, bool by_itself = false) const;
  /// The task's worker left in order, after the task had given its readers all elements of the
  /// splits that it had begun. `rest` includes the splits that it gave back.
  decision task_left(task_id id, incarnation life, output made,
                     const job_remainder& rest = {}) const;
  /// In coordinated reads: the task's worker left in order, and the elements that the task had sent
  /// for later rounds are lost.
  decision task_lost(task_id id, incarnation life, output made,
                     const job_remainder& rest = {}) const;
  /// A lost task is settled, or readers no longer hold rows of a task that is over, or splits of a
  /// task that is over are returned. `gave_back`: some splits of the task are to be read again.
  decision task_settled(task_id id, bool gave_back, const job_remainder& rest) const;
  /// Finishes the repetition if no work is left, or starts a task for splits that are left.
  decision concluded(const job_remainder& rest) const;
  /// The next step for the rounds of coordinated reads; see `round_table::next`.
  decision next_for_rounds(const std::map<consumer_id, uint64_t>& places, uint64_t furthest,
                           bool left_behind) const;
  /// Stops all tasks, because no reader is left. If the repetition is not finished, it becomes
  /// finished with the result `how`, which later readers get.
  decision cancel(const status& how = {}) const;

  void apply(const fact& what);

  // -- state --------------------------------------------------------------------

  uint64_t repetition() const noexcept { return repetition_; }
  uint64_t version() const noexcept { return version_; }
  /// The number of the newest task, or the number before the first one.
  uint64_t last_task() const noexcept { return last_task_; }
  /// True if the repetition has succeeded, no task of it is lost, and no task produced an element.
  bool empty() const;
  bool finished() const noexcept { return finished_; }
  const status& failure() const noexcept { return failure_; }
  const std::map<task_id, task>& tasks() const noexcept { return tasks_; }
  const std::set<consumer_id>& consumers() const noexcept { return consumers_; }
  /// True if that reader reads from that worker.
  bool reads(consumer_id reader, const worker_info& from) const;
  /// True if some reader reads from that worker; in coordinated reads, where each round is served
  /// by one task: if all readers do.
  bool has_reader(const worker_info& who) const;
  /// The lost task with which that worker continues when it has a reader again; null: there is
  /// none, so the worker gets a new task, or nothing.
  const task* resumable(const worker_info& who) const;
  /// True if that worker may still run the task although nothing needs it any more.
  bool is_left_over(const task& what, const worker_info& on) const;
  /// Living tasks that no present reader reads.
  std::vector<task_id> unread_tasks() const;
  /// The shards that must be read before the repetition is finished.
  std::vector<uint32_t> wanted_shards() const;
  /// The nodes that the consumers read from, for those consumers that named one.
  const std::map<consumer_id, uint64_t>& nodes() const noexcept { return nodes_; }
  const round_table& rounds() const noexcept { return rounds_; }

  friend bool operator==(const iteration&, const iteration&) = default;

private:
  friend struct state_codec<iteration>;
  class draft;

  /// True if that incarnation of the worker has a task, living or over. Lost tasks do not count,
  /// nor tasks that left under a static policy or in coordinated reads, nor, under a static policy,
  /// tasks of other shards that are over.
  bool serves(const worker_info& who) const;

  /// True if a worker that lost its task gets a new one; false if it continues with the lost one.
  bool gives_anew() const noexcept {
    return mode_ == sharding_policy::dynamic || rounds_.consumers() != 0;
  }

  /// True if a new task on that worker has readers. In coordinated reads with free seats, any
  /// process must be able to read from the worker, as it is unknown where missing consumers run.
  bool may_begin_on(const worker_info& who) const;

  /// True if the worker gets no other work because of this task, which the worker runs or ran. For
  /// the tasks that do not count, see `serves`.
  bool occupies(const task& what, const worker_info& who) const;

  /// True if the task must end before the repetition is finished. Under OFF, a task that no reader
  /// reads need not end.
  bool counts(const task& what) const;

  /// Under a static policy: true if the worker has a shard that was not read to its end and that no
  /// task reads.
  bool may_begin_shard(const worker_info& who) const;

  sharding_policy mode_;
  uint32_t shards_;
  reading_rule reads_;
  uint64_t repetition_;
  uint64_t last_task_;
  uint64_t version_ = 1;
  bool opened_ = false;
  bool finished_ = false;
  status failure_;
  std::map<task_id, task> tasks_;
  std::set<consumer_id> consumers_;
  std::map<consumer_id, uint64_t> nodes_;
  std::map<consumer_id, uint64_t> places_;
  round_table rounds_;
};

std::string_view to_string(iteration::task_state state) noexcept;

} // namespace headrace::detail
