#pragma once

#include "tests/actors/world/judge.hpp"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// A world drawn from a seed, with its faults: the members, their speed, and faults of a few kinds
/// at random times. The same seed gives the same history.
class disturbed_world {
public:
  /// The kinds of faults. Each world has some of them, which are drawn at random.
  enum fault : uint32_t {
    cuts = 1 << 0,
    swallows = 1 << 1,
    stops = 1 << 2,
    worker_deaths = 1 << 3,
    worker_leaves = 1 << 4,
    worker_joins = 1 << 5,
    trainer_deaths = 1 << 6,
    trainer_leaves = 1 << 7,
    dispatcher_deaths = 1 << 8,
    crashes = 1 << 9,
    forever = 1 << 10,            ///< some faults are not healed
    refusals = 1 << 11,           ///< new connections are refused, existing ones continue
    reorders = 1 << 12,           ///< links have very different delays
    dispatcher_returns = 1 << 13, ///< the dispatcher is killed, and starts again with its state
    repetitions = 1 << 14,        ///< a job has a second repetition, and trainers join late
    shards = 1 << 15,             ///< no fault: a static policy, with a list of one to four workers
    rereads = 1 << 16,            ///< no fault: the job may promise at_least_once
    drains = 1 << 17,             ///< the dispatcher is requested to drain a worker
    locals = 1 << 18, ///< no fault: in some worlds, trainers read only from workers of their place
    every = (1 << 19) - 1,
  };
  /// The bounds within which the numbers and times of a world are drawn.
  struct scale {
    uint64_t most_splits = 600;
    uint64_t most_rows = 20;   ///< the largest number of rows of a split
    duration shortest_pause{}; ///< the shortest pause of a trainer between two bursts
    duration faults_within = std::chrono::seconds{20};
    duration longest_fault = std::chrono::seconds{25};
    duration more_time_to_drain{}; ///< added to the time that a leaving worker has to drain
  };
  /// The scale for tests with very many worlds: a world has about a thousand events.
  static constexpr scale small() {
    using namespace std::chrono_literals;
    return {.most_splits = 30,
            .most_rows = 2,
            .shortest_pause = 20ms,
            .faults_within = 3s,
            .longest_fault = 12s};
  }
  /// `allowed`: the kinds of faults from which the kinds of this world are drawn.
  explicit disturbed_world(uint64_t seed, const scale& size, uint32_t allowed = every);

  /// Runs the world until its faults are over, then until all trainers have ended, or none has been
  /// handed an element for longer than a trainer may wait. Then makes the judge.
  void run();
  const std::vector<violation>& judged() { return judge_->all(); }
  /// For each worker that was drained, the dispatcher's answer after the worker had left.
  const std::vector<worker_drains>& drained() const noexcept { return drained_; }
  const world& the_world() const noexcept { return *world_; }
  uint64_t events() const noexcept { return world_->time.events(); }
  /// The members and faults of the world, a line each.
  const std::vector<std::string>& story() const noexcept { return story_; }

private:
  void build();
  void befall();
  /// Checks at intervals whether a trainer grants a stream less than its share for a long time.
  void look_at_credit();
  void cut_something();
  void drain(worker_process& who);
  /// Follows the drain of a worker until it has left, as a client does.
  void follow(worker_process& who, drain_request what);
  void kill_dispatcher(bool keeps_state);
  void repeat(const trainer_process::options& what);
  void stop_something();
  /// The length of a fault: short, shorter than a lease, about a lease, or long. `for_good` is set
  /// to true if the fault lasts until the end.
  duration length(bool& for_good);
  void say(std::string what);
  bool kind(fault x) const noexcept { return (kinds_ & x) != 0; }
  virtual_process& any(bool dispatcher);
  duration stall_timeout() const noexcept { return 2 * worker_timeout_; }
  void disturb(const virtual_process& who, duration how_long);

  scale size_;
  uint32_t kinds_ = 0;
  std::unique_ptr<world> world_;
  std::unique_ptr<judge> judge_;
  disturbances excuses_;
  std::vector<std::string> story_;
  /// By trainer: how many checks in a row have found a stream with less credit than its share.
  std::map<const trainer_process*, int> starved_;
  std::vector<std::string> starving_;
  std::vector<worker_drains> drained_;
  duration worker_timeout_{};
  time_point began_{};
};

} // namespace headrace::detail::test
