#pragma once

#include "headrace/actors/stopping_threads.hpp"
#include "headrace/actors/task/inner_services.hpp"
#include "headrace/actors/task/split_dealer.hpp"
#include "headrace/pipeline/graph/auto_shard.hpp"
#include "headrace/pipeline/iterator/iterator.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace headrace {

/// Pulls one pipeline on a thread of its own and gives the blocks away, never more than it may have
/// outstanding.
///
/// Stopping asks the thread to end and does not wait for it: a thread that is stuck in foreign code
/// is abandoned, what it still says is not heard, and it is counted in `options::threads`. A thread
/// that cannot be started is how the pipeline ended.
class runner {
public:
  struct options {
    dataset_ptr graph;
    uint64_t seed = 0;
    uint64_t repetition = 0;
    bool leases_splits = false; ///< DYNAMIC
    /// Under a static policy: the part of the graph's elements that it gives.
    sharding_policy policy = sharding_policy::off;
    shard_place shard;
    split_log replay;       ///< what the task was given already
    bool leaving = false;   ///< nothing more is asked, see `leave`
    uint64_t skip_rows = 0; ///< what earlier runners have given away
    /// Says now and then what the pipeline is done with: at_least_once.
    bool says_done = false;
    /// Bytes given and not taken: few, so that they are still in the cache when they are sent. Two
    /// blocks may be outstanding however large they are.
    size_t most_outstanding = 1 << 20;
    std::function<named_function(const std::string&)> find_function; ///< may be empty
    open_service open_distribute;                                    ///< may be empty
    std::shared_ptr<stopping_threads> threads;                       ///< may be null
    /// Raised to the number of failed elements that the pipeline left out; may be null.
    std::shared_ptr<std::atomic<uint64_t>> ignored;
    /// Throws std::system_error if there can be no more threads.
    std::function<std::thread(std::function<void()>)> start_thread =
      [](std::function<void()> body) { return std::thread{std::move(body)}; };
  };
  /// Called on the runner's threads, one at a time; `ended` of a thread that could not be started
  /// in `start`. They must not block.
  struct callbacks {
    std::function<void(block)> produced;
    /// The answer comes through `give_splits`, unless `leave` makes it needless. Several may wait.
    std::function<void(splits_wish)> wants_splits;
    /// The pipeline has given so many rows, those included that it skipped, and nothing that comes
    /// later is made of these splits. May be empty.
    std::function<void(uint64_t, std::vector<splits_done>)> done = {};
    /// The last call, unless it was stopped. The pipeline came to its end, or could not be made.
    std::function<void(status)> ended;
    /// The last call, unless it was stopped. Something was thrown that no operator caught.
    std::function<void(status)> crashed;
  };

  explicit runner(options what);
  ~runner();
  runner(const runner&) = delete;

  /// Once.
  void start(callbacks hear);
  /// Nothing is called after this has returned.
  void stop();
  /// Bytes of blocks that were taken off our hands.
  void taken(size_t bytes);
  /// The answer to that question; to what was closed any answer says that the job knows.
  void give_splits(const split_question& which, const result<lease_answer>& what);
  /// As `split_dealer::exhausted`; true under OFF.
  bool exhausted() const;
  /// The pipeline comes to its end after what was begun. Says what was not.
  std::vector<unread_splits> leave();

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace headrace
