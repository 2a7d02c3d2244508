#pragma once

#include "tests/actors/world/world.hpp"
#include "tests/support/reading.hpp"

#include <set>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// The faults that happened to the members of a world, by which a judge excuses some violations.
struct disturbances {
  /// The indices of trainers that were unreachable, in at least one direction, for about a lease or
  /// more.
  std::set<size_t> trainers_away;
  /// The indices of workers that were unreachable for as long, or that died or left.
  std::set<size_t> workers_away;
  /// Workers that no message reaches until the end of the world.
  std::set<const virtual_process*> cut_off_for_good;
  /// The dispatcher was killed, or was unreachable for about a lease or more.
  bool dispatcher_away = false;
  /// The dispatcher was killed, and did not return with its state.
  bool dispatcher_lost_state = false;
  /// For about `worker_timeout` there was no worker, or none that could be reached.
  bool no_worker = false;
};

/// Checks the history of a world that has come to rest, and returns the promises that were broken.
/// Each function that returns nothing checks the promise that its comment states. The class has the
/// rules for which elements may be lost or repeated under each guarantee.
class judge {
public:
  /// `starving`: streams that had less credit than their share.
  judge(const world& of, disturbances excuses, std::vector<std::string> starving = {})
    : world_(of), excuses_(std::move(excuses)), starving_(std::move(starving)) {}

  /// All waits of the trainers that are present have ended.
  void every_wait_ended();
  /// No element was handed out twice. Under at_least_once two exceptions are allowed: elements of a
  /// trainer that perhaps did not report them as handed out, because it is gone or was given up;
  /// and elements that were read again, if a trainer of the group is gone, or read an error or a
  /// remark.
  void nothing_repeated();
  /// If a trainer's iteration ended without an error, the trainers of the group were given all
  /// elements. Except under at_least_once, elements may be missing that were lost with a worker, or
  /// that may have gone to a trainer that did not end well.
  void every_end_is_true();
  /// If the first view that a trainer received from its job stated that the repetition was
  /// finished, and the trainer got no error, then the repetition was finished, and the trainer got
  /// no element.
  void what_is_over_was_read();
  /// An element was lost only if some row of its split had reached a trainer, or had been sent to a
  /// trainer that is gone or read an error.
  void little_lost();
  /// If each row is a split of its own, a reader that leaves in order causes no loss.
  void nothing_lost_with_who_leaves();
  /// If elements of a repetition were handed to none of its trainers, each of these trainers that
  /// ended without an error was given a remark about the loss.
  void no_loss_is_silent();
  /// No trainer read an error that no fault excuses. The lack of a worker does not excuse an error
  /// that came after all elements.
  void every_error_is_excused();
  /// At the end no worker runs a task that no trainer needs.
  void nothing_left_behind();
  /// No live stream had less credit than its share for a long time.
  void credit_is_shared();
  /// Checks all promises above, and returns the violations.
  const std::vector<violation>& all();

  const std::vector<violation>& violations() const noexcept { return found_; }
  /// The elements that no trainer was given.
  std::vector<int64_t> missing() const;

private:
  void find(std::string rule, std::string what) {
    found_.push_back({std::move(rule), std::move(what)});
  }
  /// Under a static policy: each shard is read once, and again only if the task that read it is
  /// gone.
  void every_shard_is_whole(const std::set<int64_t>& given, bool unknown);
  bool dynamic() const { return world_.about.policy == sharding_policy::dynamic; }
  /// True if a trainer and a worker may have died together, so that it is unknown what the trainer
  /// received.
  bool died_together() const;
  /// True if repetitions are not collected: a task without readers waits for readers that return.
  bool keeps_what_nobody_reads() const;
  bool at_least_once() const {
    return dynamic() && world_.about.guarantee == delivery_guarantee::at_least_once;
  }
  /// True if the element's split was leased to two or more tasks, and one of these tasks is lost or
  /// some trainer is gone or was unreachable: under at_least_once the element may be repeated.
  bool read_again(int64_t element) const;
  /// The elements that were sent to trainers that are gone or read an error. An element that was
  /// claimed when it was sent to such a trainer is lost, even if it did not arrive.
  std::set<int64_t> sent_to_the_gone() const;
  bool anonymous() const { return world_.about.job_name.empty(); }
  /// The groups of trainers that read the same repetition of a job. A trainer of an anonymous job
  /// is a group by itself.
  std::vector<std::vector<const trainer_process*>> groups() const;
  size_t index_of(const trainer_process* who) const;
  std::vector<reading> readings(const std::vector<const trainer_process*>& group) const;
  void find(std::optional<violation> what) {
    if (what)
      found_.push_back(*std::move(what));
  }

  const world& world_;
  disturbances excuses_;
  std::vector<std::string> starving_;
  std::vector<violation> found_;
};

} // namespace headrace::detail::test
