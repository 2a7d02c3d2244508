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

namespace headrace {

/// What may be left to do when no task of a repetition is busy any more, and who could do it.
struct job_remainder {
  bool splits = false; ///< given back by tasks that left or are lost, and not leased since
  /// What lost tasks had is not known yet, and may have to be read.
  bool unsettled = false;
  /// Readers hold rows of tasks that are over, and have not handed them out: nobody is told that
  /// the repetition is over.
  bool held = false;
  bool spent = false;             ///< every source was leased to its end: no task could read more
  std::vector<worker_info> alive; ///< without those that are about to leave
};

/// One repetition of a job: who works on it, who reads it, and when it is over. Pure: events from
/// outside are decided on, without changing anything, into facts and what is to be done; facts
/// change it when they are applied. The same facts make the same state. The splits are the
/// split_assigner's business.
class iteration {
public:
  /// `left`: its worker ended in order, and what it had not read is for others.
  enum class task_state : uint8_t { starting, running, ended, failed, lost, left };
  /// What a task has produced.
  using output = task_output_counts;
  struct task {
    task_id id;
    incarnation life;
    worker_info worker;
    task_state state = task_state::starting;
    output made;         ///< when it is over
    uint64_t newest = 0; ///< when it gave splits back: tasks up to this one had begun before
    bool ran = false;    ///< its worker has or had it
    /// It ended before its sources were exhausted, as its pipeline takes only so much of them.
    bool by_itself = false;

    bool alive() const noexcept {
      return state == task_state::starting || state == task_state::running;
    }
    friend bool operator==(const task&, const task&) = default;
  };

  // -- facts --------------------------------------------------------------------

  struct reader_joined {
    consumer_id who;
    uint64_t node = 0;  ///< that it reads from; zero: any
    uint64_t place = 0; ///< of its process; zero: no worker is local to it
    uint32_t index = 0; ///< of coordinated reads
    friend bool operator==(const reader_joined&, const reader_joined&) = default;
  };
  struct reader_left {
    consumer_id who;
    friend bool operator==(const reader_left&, const reader_left&) = default;
  };
  /// A new task, or what became of one.
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

  /// What is to be done when the facts hold, in this order.
  struct commands {
    std::vector<task> stop;
    std::vector<task> start;
    /// Their only reader hears of the tasks that start before of anything else.
    bool eager = false;
    /// Tasks that are gone with their splits.
    std::vector<task_id> forget;
    /// The readers should be told the new state.
    bool announce = false;
  };
  struct decision {
    std::vector<fact> facts;
    commands todo;
  };

  /// `first_task`: task ids are counted up from here, in a range that no other iteration uses.
  /// `shards`: of a static policy; it is over when each was read to its end.
  /// `reads`: a worker has a task only while it has a reader.
  iteration(sharding_policy mode, uint64_t repetition, uint64_t first_task, uint32_t shards = 0,
            reading_rule reads = {})
    : mode_(mode),
      shards_(shards),
      reads_(reads),
      repetition_(repetition),
      last_task_(first_task),
      rounds_(reads.num_consumers) {}

  // -- decisions ----------------------------------------------------------------

  /// `node`: that it reads from; zero: any.
  decision consumer_joined(consumer_id who, const std::vector<worker_info>& alive,
                           uint64_t node = 0, uint64_t place = 0, uint32_t index = 0) const;
  decision consumer_left(consumer_id who) const;
  /// There are readers, and none of them reads these tasks any more (`has_reader`): what DYNAMIC
  /// leased to them and a static policy gave them is for others, and under OFF nobody waits for
  /// them.
  decision leave_unread(const job_remainder& rest = {}) const;
  decision worker_joined(const worker_info& who) const;
  /// Workers that are there as a core of the job takes over. Some may have come while there was
  /// none.
  decision workers_present(const std::vector<worker_info>& alive) const;
  decision worker_lost(worker_id who, const job_remainder& rest = {}) const;
  /// The worker has the task, or could not take it.
  decision task_started(task_id id, const status& how, const job_remainder& rest = {}) const;
  /// The task has given all it had to its readers, or has failed.
  /// `by_itself`: its pipeline came to its end before its sources did.
  decision task_ended(task_id id, incarnation life, output made, const status& how,
                      const job_remainder& rest = {}, bool by_itself = false) const;
  /// Its worker ends, in order: it gave what it had begun to its readers.
  /// `rest` counts what it gave back.
  decision task_left(task_id id, incarnation life, output made,
                     const job_remainder& rest = {}) const;
  /// It is known what of a lost task's splits reached its readers.
  /// `gave_back`: others are to read some.
  decision task_settled(task_id id, bool gave_back, const job_remainder& rest) const;
  /// What is to be done for the rounds of coordinated reads: as round_table::next.
  decision next_for_rounds(const std::map<consumer_id, uint64_t>& places, uint64_t furthest,
                           bool left_behind) const;
  /// Nobody reads any more: all tasks stop. Who comes later is told `how` it ended.
  decision cancel(const status& how = {}) const;

  void apply(const fact& what);

  // -- state --------------------------------------------------------------------

  uint64_t repetition() const noexcept { return repetition_; }
  uint64_t version() const noexcept { return version_; }
  /// The latest task, or the number that the first one comes after.
  uint64_t last_task() const noexcept { return last_task_; }
  /// It is finished, and no task of it is lost or gave an element to anybody.
  bool empty() const;
  bool finished() const noexcept { return finished_; }
  const status& failure() const noexcept { return failure_; }
  const std::map<task_id, task>& tasks() const noexcept { return tasks_; }
  const std::set<consumer_id>& consumers() const noexcept { return consumers_; }
  /// That reader reads from that worker.
  bool reads(consumer_id reader, const worker_info& from) const;
  /// Some reader reads from that worker.
  bool has_reader(const worker_info& who) const;
  /// Tasks that live, and that none of the readers that there are reads.
  std::vector<task_id> unread_tasks() const;
  /// The entries of the dispatcher's list that are to be read before it is over.
  std::vector<uint32_t> wanted_shards() const;
  /// The nodes that consumers read from, as far as they said it.
  const std::map<consumer_id, uint64_t>& nodes() const noexcept { return nodes_; }
  const round_table& rounds() const noexcept { return rounds_; }

  friend bool operator==(const iteration&, const iteration&) = default;

private:
  friend struct state_codec<iteration>;
  class draft;

  /// That life of the worker has a task, or had one that was not lost.
  bool serves(const worker_info& who) const;

  /// A worker that lost its task is given another one, and does not go on with that.
  bool gives_anew() const noexcept {
    return mode_ == sharding_policy::dynamic || rounds_.consumers() != 0;
  }

  /// It must end before the repetition is over: not a copy that nobody reads.
  bool counts(const task& what) const;

  /// Under a static policy: it has a shard that was not read to its end, and that nobody reads.
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

} // namespace headrace
