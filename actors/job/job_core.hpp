#pragma once

#include "headrace/actors/job/job_command.hpp"
#include "headrace/actors/protocol/job_description.hpp"
#include "headrace/runtime/lease/lease_table.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headrace {

/// What a job decides: which worker has which task, who gets which splits, when a repetition is
/// over, when the job is. Events and the time go in, commands come out. Knows no actor and no
/// clock.
///
/// What must not be forgotten is in its record and changes by facts, which come out as `store`
/// before what follows from them. The rest (who was heard of lately, who waits for splits) is told
/// again by workers and consumers to a core that takes over.
class job_core {
public:
  /// `record`: empty, or what an earlier core of this job stored. `present`: the workers that are
  /// alive. `entropy`: a random number; all that is drawn follows from it.
  job_core(job_description about, job_record record, const std::vector<worker_info>& present,
           uint64_t entropy);

  /// The actor begins. Goes on where the record ends. To be called once, before all else.
  job_commands start(time_point now);

  // -- from consumers -----------------------------------------------------------------

  /// OpenIteration: a consumer asks to read a repetition; it may have asked before.
  job_commands open(request_token request, const open_iteration& wanted, time_point now);
  /// ConsumerHeartbeat: a reader is alive.
  job_commands heartbeat(request_token request, const reader_heartbeat& what, time_point now);
  /// LeaveIteration: a reader needs no more.
  job_commands leave(request_token request, const leave_iteration& what, time_point now);

  // -- from workers, for their tasks ----------------------------------------------------

  /// LeaseSplits: a task asks for splits. Answered when there are some, or none will come. Or it
  /// closes a pass, or says what its readers were given.
  job_commands lease(request_token request, const splits_request& wanted, time_point now);
  /// TaskEnded: a task is over, one way or another.
  job_commands task_ended(request_token request, const task_end& what, time_point now);
  /// The answer to StartTask.
  job_commands start_answered(const job_command::start_task& asked, const status& answer,
                              time_point now);
  /// There was none. The worker is asked again until it answers or its lease ends.
  job_commands start_unanswered(const job_command::start_task& asked, time_point now);
  /// Whether there was an answer to StopTask. Without one the worker is told again.
  job_commands stop_answered(const job_command::stop_task& what, bool answered, time_point now);
  /// Whether there was an answer to TaskReaders. Without one the worker is told again.
  job_commands readers_answered(const job_command::name_readers& what, bool answered,
                                time_point now);

  // -- from the dispatcher ----------------------------------------------------------------

  /// A worker registered: a new one, another life of a known one, or one whose connection was lost.
  /// Or it is about to leave now, and gets no new tasks.
  job_commands worker_came(const worker_info& who, time_point now);
  /// A worker's lease ended, or it left.
  job_commands worker_lost(worker_id who, time_point now);

  // -- time -------------------------------------------------------------------------------

  /// `next_deadline` has come. Harmless when called earlier.
  job_commands timer(time_point now);
  /// When to call `timer`; nullopt: nothing is waited for.
  std::optional<time_point> next_deadline() const;

  // -- state ------------------------------------------------------------------------------

  const job_description& about() const noexcept { return about_; }
  const job_record& record() const noexcept { return record_; }
  /// Of coordinated reads: the furthest round that a reader was heard to be at.
  uint64_t round_of(uint64_t repetition) const;
  /// The lease of that reader is running.
  bool is_reader(const reader_of& who) const {
    return readers_heard_.contains({who.repetition, who.consumer});
  }
  /// And it reads from that node.
  bool is_reader(const reader_of& who, uint64_t node) const {
    if (!is_reader(who))
      return false;
    const auto& nodes = record_.repetitions().at(who.repetition).state.nodes();
    const auto at = nodes.find(who.consumer);
    return at == nodes.end() || at->second == node;
  }

private:
  using repetition = job_record::repetition;
  /// A question for splits that waits until other tasks have read what they hold.
  struct waiting {
    lease_request what;
    request_token request;
  };
  /// What is not stored of a repetition.
  struct connected {
    std::set<consumer_id> readers;           ///< that can be reached, and know what was announced
    std::optional<iteration_view> announced; ///< the latest, whole
    time_point announced_at{};
    std::optional<time_point> announce_at; ///< what changed since then
    std::vector<waiting> leases;
    time_point idle_since{};
    /// Of coordinated reads: the rounds with which readers wait for the epoch that is proposed.
    std::map<consumer_id, uint64_t> places;
    uint64_t round = 0;                     ///< the furthest that a reader was heard to be at
    std::map<consumer_id, uint64_t> rounds; ///< that readers said to be at
    uint64_t left_at = 0;                   ///< the furthest of the readers that left in order
  };

  /// To be called at the end of each event: frees what is over, and gives the commands out.
  job_commands finish();
  void say(log_level level, std::string text,
           std::vector<std::pair<std::string, log_line::value>> fields);
  /// Commands that the facts be stored, and applies them.
  void commit(std::vector<job_record::fact> facts);
  void answer(request_token to, std::variant<status, iteration_view, lease_answer> what);
  /// `before`: facts that hold with the decision's, or not at all.
  void carry_out(repetition& r, const iteration::decision& decided,
                 std::vector<job_record::fact> before = {});

  // readers
  repetition& begin(uint64_t number);
  void heard_of(uint64_t repetition, consumer_id who);
  status not_a_reader(consumer_id who, uint64_t repetition) const;
  void remove(repetition& r, consumer_id who);
  /// What tasks have that none of the readers reads is for the others.
  void leave_unread(repetition& r);
  /// How far a reader of rounds is.
  void note_rounds(const repetition& r, consumer_id who, const round_progress& what);
  /// The same of one that leaves.
  void note_rounds(const repetition& r, const leave_iteration& what);
  /// Proposes and agrees on epochs of coordinated reads.
  void look_at_rounds(repetition& r);
  /// A reader is heard to be at an earlier round than one that left in order.
  bool is_left_behind(const repetition& r) const;
  /// How far a reader is with tasks that are over.
  void note_marks(repetition& r, consumer_id who, const std::map<task_id, uint64_t>& handed_out);
  /// What a reader that is gone held of tasks that are over is lost; under at_least_once it is read
  /// again.
  void lose_held(repetition& r, consumer_id who);
  /// Concludes what waited until nobody holds rows of these tasks any more.
  void conclude(repetition& r, const std::vector<task_id>& of);
  /// What a reader that leaves got of tasks that are lost or may be.
  void account_for(const repetition& r, const leave_iteration& what);
  iteration_view view_of(const repetition& r) const;
  /// A reader can be reached, and is sent the whole view.
  void now_places(const repetition& r, consumer_id who);
  /// Sends what changed since the last time to those who know that. Where many tasks change at
  /// once, as when they start, once for many of them.
  void announce(const repetition& r);
  void announce_now(const repetition& r);
  void announce_what_is_due();
  bool is_read() const;
  /// Of a reader: nobody has heard of it for the lease, and others may be given what it holds.
  bool is_silent(const std::pair<uint64_t, consumer_id>& who) const;
  /// A reader waits: what those hold that are silent is given to it and others.
  void give_up_silent(repetition& r);
  void give_up(uint64_t number, consumer_id who, const char* why);

  // the end, in job_core_collection.cpp
  /// Ends the job if nobody reads it, nor may come back to it.
  void end_if_unused();
  /// When a repetition that nobody reads is to be collected; nullopt: never.
  std::optional<time_point> collected_at(uint64_t number, const repetition& r) const;
  /// When the job is to end, if nobody comes to read it; nullopt: something keeps it.
  std::optional<time_point> ends_at() const;
  /// Collects the repetitions that it is time for.
  void collect();
  void collect(uint64_t number);
  std::string why_collected() const;

  // tasks
  repetition* of_task(task_id id);
  void start(const repetition& r, const iteration::task& what, bool eager = false);
  void start(const repetition& r, const iteration::task& what, bool eager, bool with_graph);
  void stop(const iteration::task& what, std::string reason);

  // orders that are repeated until they are acknowledged
  task_readers readers_of(const repetition& r, task_id task) const;
  void name_readers(const repetition& r, const iteration::task& what);
  /// Gives out again what is not acknowledged; `to` zero: to all workers.
  void repeat_orders(worker_id to);
  void repeat_later();
  /// The task knows how far these were that left in order.
  void forget_departed(const task_readers& known);
  bool is_present(const worker_info& who) const;
  /// Those that take new tasks.
  std::vector<worker_info> takers() const;
  void ended(repetition& r, const task_end& what);
  void left(repetition& r, const task_end& what);
  /// The fact of who holds rows of a task as it ends.
  std::vector<job_record::fact> held_of(const repetition& r, const task_end& what) const;
  /// Under at_least_once: readers hold rows of a task that ends. Adds to the `facts` of that what
  /// is remembered of it or, if one of these readers is gone, goes to others. True: something does.
  bool keep_for_readers(const repetition& r, const task_end& what,
                        std::vector<job_record::fact>& facts) const;
  void lose_missing();
  /// Loses tasks whose workers are not there; `replaced`: of these, where another life of it is.
  void lose_missing(repetition& r, bool replaced);
  /// What may be left to do; `given_back`: by the task that is spoken of.
  job_remainder rest_of(const repetition& r, bool given_back = false) const;
  void lose(repetition& r, worker_id who);
  /// Of lost tasks whose readers have said what they got.
  void settle_losses(repetition& r);

  // splits
  /// Answers the waiting questions that can be answered now.
  void settle(repetition& r);
  void drop_questions(uint64_t number, task_id of);
  /// A task of a static policy lists files. `failed_precondition`: others of this repetition did
  /// before, and found something else.
  status compare_listing(repetition& r, const lease_request& what);
  /// A task's pipeline is done with a pass of a source.
  void close(repetition& r, task_id task, const unread_splits& what);

  job_description about_;
  job_record record_;
  std::map<worker_id, worker_info> workers_; ///< that are alive
  uint64_t entropy_;
  std::map<uint64_t, connected> connected_; ///< by repetition
  /// Whoever is not in here any more is no reader: it was silent for the clients' time-out.
  lease_table<std::pair<uint64_t, consumer_id>> readers_heard_;
  /// Of these, the ones that were heard of within the lease.
  lease_table<std::pair<uint64_t, consumer_id>> prompt_;
  std::set<task_id> unanswered_starts_;
  std::map<task_id, job_command::stop_task> stops_; ///< that are not acknowledged
  /// By task: readers that left in order, and how far they were, until the task knows that.
  std::map<task_id, std::map<consumer_id, uint64_t>> departed_;
  std::map<task_id, uint64_t> readers_known_; ///< by task: the version that is acknowledged
  std::optional<time_point> repeat_at_;       ///< orders that are not acknowledged
  /// When an earlier core was taken over from: whoever is not heard of for a lease is lost.
  std::optional<time_point> missing_at_;
  time_point began_{}; ///< this core
  uint64_t begun_ = 0; ///< repetitions, by this core
  bool over_ = false;
  time_point now_{};  ///< of the present event
  job_commands todo_; ///< what it leads to
};

} // namespace headrace
