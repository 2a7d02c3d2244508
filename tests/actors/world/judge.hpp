#pragma once

#include "tests/actors/world/world.hpp"
#include "tests/support/reading.hpp"

#include <set>
#include <string>
#include <vector>

namespace headrace::test {

/// What happened to the members of a world from outside, by which a judge excuses what it may.
struct disturbances {
  /// Trainers that could not be heard of, or could not hear, for about a lease or more; by index.
  std::set<size_t> trainers_away;
  /// Workers that were; or that died or left; by index.
  std::set<size_t> workers_away;
  /// Nobody can tell these workers anything.
  std::set<const virtual_process*> cut_off_for_good;
  /// The dispatcher lost its state, or nobody could reach it for about a lease or more.
  bool dispatcher_away = false;
  bool dispatcher_lost_state = false;
  /// For a time there was no worker, or none that could be reached, for about `worker_timeout`.
  bool no_worker = false;
};

/// Looks at the history of a world that has come to rest, and says what was promised and did not
/// hold. Knows for each guarantee what may be lost or repeated.
class judge {
public:
  /// `starving`: streams that were seen with less credit than their share.
  judge(const world& of, disturbances excuses, std::vector<std::string> starving = {})
    : world_(of), excuses_(std::move(excuses)), starving_(std::move(starving)) {}

  /// Of trainers that are there: every wait ended.
  void every_wait_ended();
  /// No element was handed out twice. Under at_least_once two exceptions are allowed: elements that
  /// a trainer had not reported as handed out when it died, or when it ended with the error that it
  /// was given up; and elements that were read again and handed to a trainer whose repetition ended
  /// without an error.
  void nothing_repeated();
  /// An end without an error came after all elements, but for those that were lost with a worker:
  /// under at_least_once after all.
  void every_end_is_true();
  /// Whoever was told that a repetition was over before it asked was told the truth.
  void what_is_over_was_read();
  /// What was lost was with a lost task, and of it only the rest of splits of which something
  /// reached a trainer.
  void little_lost();
  /// Where each row is a split of its own, a reader that leaves in order costs nothing.
  void nothing_lost_with_who_leaves();
  /// Whoever ended well and lacks something read so.
  void no_loss_is_silent();
  /// No trainer read an error that nothing excuses, nor one after all elements.
  void every_error_is_excused();
  /// Nothing runs that nobody needs.
  void nothing_left_behind();
  /// Credit is shared by the streams that there are.
  void credit_is_shared();
  /// All of the above.
  const std::vector<violation>& all();

  const std::vector<violation>& violations() const noexcept { return found_; }
  /// Elements that no trainer was given.
  std::vector<int64_t> missing() const;

private:
  void find(std::string rule, std::string what) {
    found_.push_back({std::move(rule), std::move(what)});
  }
  /// Under a static policy: each shard once, and again only where who read it was gone.
  void every_shard_is_whole(const std::set<int64_t>& given, bool unknown);
  bool dynamic() const { return world_.about.policy == sharding_policy::dynamic; }
  /// A trainer and a worker may have died together, so that nobody knows what the trainer got.
  bool died_together() const;
  /// Its jobs are not collected: a task that nobody reads waits for who comes back.
  bool keeps_what_nobody_reads() const;
  bool at_least_once() const {
    return dynamic() && world_.about.guarantee == delivery_guarantee::at_least_once;
  }
  /// Its split was leased to another task after one that is lost, or of which a trainer that is
  /// gone held rows: under at_least_once it may come again.
  bool read_again(int64_t element) const;
  /// Elements that were sent to trainers that are gone, or read an error: what was claimed for them
  /// as it was sent is lost, though it may not have arrived.
  std::set<int64_t> sent_to_the_gone() const;
  bool anonymous() const { return world_.about.job_name.empty(); }
  /// The trainers that read one job's repetition together: all of a named job, one of its own.
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

} // namespace headrace::test
