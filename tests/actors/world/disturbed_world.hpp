#pragma once

#include "tests/actors/world/judge.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace headrace::test {

/// A world drawn from a seed, and what befalls it: which members there are, how fast they are, and
/// faults of a few kinds at random times. The same seed gives the same history.
class disturbed_world {
public:
  /// Kinds of faults; a world is drawn some of them.
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
    forever = 1 << 10, ///< some faults are not healed
    every = (1 << 11) - 1,
  };
  /// `allowed`: the kinds of which this world may be drawn some.
  explicit disturbed_world(uint64_t seed, uint32_t allowed = every);

  /// Runs until all is over, or the last wait should be.
  void run();
  const std::vector<violation>& judged() { return judge_->all(); }
  const world& the_world() const noexcept { return *world_; }
  uint64_t events() const noexcept { return world_->time.events(); }
  /// What there was and what befell it, a line each.
  const std::vector<std::string>& story() const noexcept { return story_; }

private:
  void build();
  void befall();
  void cut_something();
  void stop_something();
  void heal();
  /// Of a fault: short, about a lease, long; or for good.
  duration length(bool& for_good);
  void say(std::string what);
  bool kind(fault x) const noexcept { return (kinds_ & x) != 0; }
  virtual_process& any(bool dispatcher);
  void disturb(const virtual_process& who, duration how_long);

  uint32_t kinds_ = 0;
  std::unique_ptr<world> world_;
  std::unique_ptr<judge> judge_;
  disturbances excuses_;
  std::vector<std::string> story_;
  duration worker_timeout_{};
  time_point began_{};
};

} // namespace headrace::test
