#pragma once

#include "headrace/actors/job/job_command.hpp"
#include "headrace/actors/job/splits/pace_window.hpp"
#include "headrace/actors/protocol/job_description.hpp"
#include "headrace/runtime/lease/lease_table.hpp"

#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Decides for a job: which worker has which task, which task gets which splits, when a repetition
/// is finished, and when the job ends. It is given events with the time, and returns commands. It
/// uses no actor and no clock.
///
/// Durable state is in its record and changes by facts, which are returned as `store` before the
/// commands that follow from them. The rest (the times of readers' last messages, the waiting
/// questions) is reported again by workers and consumers to a core that takes over.
class job_core {
public:
  /// `record`: empty, or what an earlier core of this job stored. `present`: the workers that are
  /// alive. `entropy`: a random number, from which all random choices are derived.
  job_core(job_description about, job_record record, const std::vector<worker_info>& present,
           uint64_t entropy);

  /// To be called once, before all other events. The job continues with the state of its record.
  job_commands start(time_point now);

  // -- from consumers -----------------------------------------------------------------

  /// OpenIteration: a consumer requests to read a repetition; the request may be a repeated one.
  job_commands open(request_token request, const open_iteration& wanted, time_point now);
  /// ConsumerHeartbeat: a reader is alive.
  job_commands heartbeat(request_token request, const reader_heartbeat& what, time_point now);
  /// LeaveIteration: a reader leaves.
  job_commands leave(request_token request, const leave_iteration& what, time_point now);

  // -- from workers, for their tasks ----------------------------------------------------

  /// LeaseSplits: a task requests splits, and is answered when there are some or the pass is over;
  /// or a task closes a pass, or sends an account or, under a static policy, its listing.
  job_commands lease(request_token request, const splits_request& wanted, time_point now);
  /// TaskEnded: a task is over, for any reason.
  job_commands task_ended(request_token request, const task_end& what, time_point now);
  /// The answer to StartTask.
  job_commands start_answered(const job_command::start_task& asked, const status& answer,
                              time_point now);
  /// StartTask was not answered. It is repeated until the worker answers or its lease expires.
  job_commands start_unanswered(const job_command::start_task& asked, time_point now);
  /// `answered`: whether StopTask was answered. If not, it is repeated.
  job_commands stop_answered(const job_command::stop_task& what, bool answered, time_point now);
  /// `answered`: whether TaskReaders was answered. If not, it is repeated.
  job_commands readers_answered(const job_command::name_readers& what, bool answered,
                                time_point now);

  // -- from the dispatcher ----------------------------------------------------------------

  /// A worker registered: a new one, another incarnation of one that is in the table, or one whose
  /// connection was lost. Or a worker is about to leave, and gets no new tasks.
  job_commands worker_came(const worker_info& who, time_point now);
  /// A worker's lease expired, or it left.
  job_commands worker_lost(worker_id who, time_point now);

  // -- time -------------------------------------------------------------------------------

  /// The time of `next_deadline` has come. A call before that time does nothing.
  job_commands timer(time_point now);
  /// When to call `timer`; nullopt: not before another event.
  std::optional<time_point> next_deadline() const;

  // -- state ------------------------------------------------------------------------------

  const job_description& about() const noexcept { return about_; }
  const job_record& record() const noexcept { return record_; }
  /// In coordinated reads: the latest round that a reader has reported.
  uint64_t round_of(uint64_t repetition) const;
  /// The paces of the readers of a repetition in the last seconds.
  std::map<consumer_id, pace_window> paces_of(uint64_t repetition) const;
  /// True if the consumer is a reader that sent a message within the client time-out.
  bool is_reader(const reader_of& who) const {
    return readers_heard_.contains({who.repetition, who.consumer});
  }
  /// As `is_reader(who)`; in addition the consumer must read from that node, or have named no node.
  bool is_reader(const reader_of& who, uint64_t node) const {
    if (!is_reader(who))
      return false;
    const auto& nodes = record_.repetitions().at(who.repetition).state.nodes();
    const auto at = nodes.find(who.consumer);
    return at == nodes.end() || at->second == node;
  }

private:
  using repetition = job_record::repetition;
  /// A question for splits that is not answered yet, because other tasks hold unread splits.
  struct waiting {
    lease_request what;
    request_token request;
  };
  /// The part of a repetition's state that is not stored.
  struct connected {
    /// The readers that can be reached and that were sent the announced view.
    std::set<consumer_id> readers;
    std::optional<iteration_view> announced; ///< the last announced view, complete
    time_point announced_at{};
    std::optional<time_point> announce_at; ///< when later changes are to be announced
    std::vector<waiting> leases;
    time_point idle_since{};
    /// In coordinated reads: the next round of each reader that waits for the proposed epoch.
    std::map<consumer_id, uint64_t> places;
    uint64_t round = 0; ///< the latest round that a reader has reported
    /// The next round of each reader: as it last reported, or the first round of its first epoch.
    std::map<consumer_id, uint64_t> rounds;
    uint64_t left_at = 0; ///< the latest round of the readers that left in order
    std::map<consumer_id, pace_window> paces; ///< the paces of the readers
  };

  /// To be called at the end of each event. Settles lost tasks, takes the next steps for rounds,
  /// forgets repetitions that are no longer needed, and returns the commands.
  job_commands finish();
  void say(log_level level, std::string text,
           std::vector<std::pair<std::string, log_line::value>> fields);
  /// Adds a command to store the facts, and applies the facts.
  void commit(std::vector<job_record::fact> facts);
  void answer(request_token to, std::variant<status, iteration_view, lease_answer> what);
  /// `before`: facts that are stored in one group with those of the decision.
  void carry_out(repetition& r, const iteration::decision& decided,
                 std::vector<job_record::fact> before = {});

  // readers
  repetition& begin(uint64_t number);
  void heard_of(uint64_t repetition, consumer_id who);
  status not_a_reader(consumer_id who, uint64_t repetition) const;
  void remove(repetition& r, consumer_id who, bool lost = false);
  /// Takes the work of tasks that no reader reads, and makes it available to other tasks.
  void leave_unread(repetition& r);
  /// Records the round that a reader has reached.
  void note_rounds(const repetition& r, consumer_id who, const round_progress& what);
  /// Records the round at which a reader leaves.
  void note_rounds(const repetition& r, const leave_iteration& what);
  /// Where a reader that is about to be removed leaves the rounds.
  round_table::absence absence_of(const repetition& r, consumer_id who, bool lost);
  /// Proposes and agrees on epochs of coordinated reads.
  void look_at_rounds(repetition& r);
  /// True if a reader last reported an earlier round than the one at which another reader left in
  /// order.
  bool is_left_behind(const repetition& r) const;
  /// Records how many elements a reader has handed out, by task, for tasks that are over.
  void note_marks(repetition& r, consumer_id who, const std::map<task_id, uint64_t>& handed_out);
  /// A reader is gone: the rows that it held of tasks that are over are lost; under at_least_once
  /// they are read again.
  void lose_held(repetition& r, consumer_id who);
  /// For each task in `of` whose rows no reader holds any more: releases its leases, and checks
  /// whether the repetition is finished.
  void conclude(repetition& r, const std::vector<task_id>& of);
  /// Records the receipts of a reader that leaves.
  void account_for(const repetition& r, const leave_iteration& what);
  iteration_view view_of(const repetition& r) const;
  /// Records that the reader can be reached at its present handle, and is sent the whole view.
  void now_places(const repetition& r, consumer_id who);
  /// Sends the change since the last announcement to the readers that were sent that announcement.
  /// If many tasks change at about the same time, for instance at the start, one announcement
  /// contains many changes.
  void announce(const repetition& r);
  void announce_now(const repetition& r);
  void announce_what_is_due();
  bool is_read() const;
  /// True if the reader has sent nothing for a lease: its rows may be given to others.
  bool is_silent(const std::pair<uint64_t, consumer_id>& who) const;
  /// A reader waits: the silent readers are given up, so that their rows go to the others.
  void give_up_silent(repetition& r);
  void give_up(uint64_t number, consumer_id who, const char* why);

  // the end, in job_core_collection.cpp
  /// Ends the job if the time `ends_at` has come.
  void end_if_unused();
  /// When a repetition that no reader reads is to be collected; nullopt: never.
  std::optional<time_point> collected_at(uint64_t number, const repetition& r) const;
  /// When the job is to end if no reader comes; nullopt: it does not end.
  std::optional<time_point> ends_at() const;
  /// Collects the repetitions whose time has come.
  void collect();
  void collect(uint64_t number);
  std::string why_collected() const;

  // tasks
  repetition* of_task(task_id id);
  void start(const repetition& r, const iteration::task& what, bool eager = false);
  void start(const repetition& r, const iteration::task& what, bool eager, bool with_graph);
  void stop(const iteration::task& what, std::string reason);
  /// Stops the tasks that the worker may still run although nothing needs them any more.
  void stop_left_over(const repetition& r, const worker_info& on);

  // orders that are repeated until they are acknowledged
  task_readers readers_of(const repetition& r, task_id task) const;
  void name_readers(const repetition& r, const iteration::task& what);
  /// Repeats the orders that are not acknowledged. `to`: the worker; zero: all workers.
  void repeat_orders(worker_id to);
  void repeat_later();
  /// From now on, the task is sent no orders except the order to stop.
  void forget_orders(task_id id);
  /// Drops reports of readers that left in order, when the task has acknowledged these reports.
  void forget_departed(const task_readers& known);
  bool is_present(const worker_info& who) const;
  /// The workers that take new tasks.
  std::vector<worker_info> takers() const;
  void ended(repetition& r, const task_end& what);
  void left(repetition& r, const task_end& what);
  /// The facts for a task that ends: which readers hold rows of it, and which of these readers are
  /// gone.
  std::vector<job_record::fact> held_of(const repetition& r, const task_end& what) const;
  /// Under at_least_once, if readers hold rows of a task that ends: adds facts that keep the task's
  /// leases, and, if one of these readers is gone, facts that return the task's splits to the
  /// assigner. The result is true if splits are returned.
  bool keep_for_readers(const repetition& r, const task_end& what,
                        std::vector<job_record::fact>& facts) const;
  void lose_missing();
  /// Records as lost the tasks whose workers are not present. `replaced`: only tasks whose worker
  /// is present as another incarnation.
  void lose_missing(repetition& r, bool replaced);
  /// The work that may be left; `given_back`: the task of the present event gave splits back.
  job_remainder rest_of(const repetition& r, bool given_back = false) const;
  void lose(repetition& r, worker_id who);
  /// Settles the lost tasks whose readers have all sent their receipts.
  void settle_losses(repetition& r);

  // splits
  /// Answers the waiting questions that can be answered now.
  void settle(repetition& r);
  void drop_questions(uint64_t number, task_id of);
  /// Compares the listing that a task sent under a static policy with the first listing of the same
  /// source and repetition, or records it as the first. `failed_precondition`: they differ.
  status compare_listing(repetition& r, const lease_request& what);
  /// A task closes a pass of a source.
  void close(repetition& r, task_id task, const unread_splits& what);

  job_description about_;
  job_record record_;
  std::map<worker_id, worker_info> workers_; ///< the living workers
  uint64_t entropy_;
  std::map<uint64_t, connected> connected_; ///< by repetition
  /// The readers that sent a message within the client time-out. Other consumers are no longer
  /// readers.
  lease_table<std::pair<uint64_t, consumer_id>> readers_heard_;
  /// The readers that sent a message within the lease.
  lease_table<std::pair<uint64_t, consumer_id>> prompt_;
  std::set<task_id> unanswered_starts_;
  std::map<task_id, job_command::stop_task> stops_; ///< the orders that are not acknowledged yet
  /// By task: the readers that left in order and the number of elements that each had handed out,
  /// until the task has acknowledged the report.
  std::map<task_id, std::map<consumer_id, uint64_t>> departed_;
  /// By task: the version of the list of readers (TaskReaders) that the task has acknowledged.
  std::map<task_id, uint64_t> readers_known_;
  std::optional<time_point> repeat_at_; ///< when orders that are not acknowledged are repeated
  /// Set when this core has taken over from an earlier one: at this time the tasks of workers that
  /// have not registered since are lost.
  std::optional<time_point> missing_at_;
  time_point began_{}; ///< when this core began
  uint64_t begun_ = 0; ///< the number of repetitions that this core has begun
  bool over_ = false;
  time_point now_{};  ///< the time of the present event
  job_commands todo_; ///< the commands of the present event
};

} // namespace headrace::detail
