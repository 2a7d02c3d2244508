#pragma once

#include "headrace/actors/stopping_threads.hpp"
#include "headrace/actors/task/inner_services.hpp"
#include "headrace/actors/task/split_dealer.hpp"
#include "headrace/actors/task/task_profile.hpp"
#include "headrace/pipeline/iterator/iterator.hpp"
#include "headrace/pipeline/makers/auto_shard.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <atomic>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Pulls one pipeline on a thread of its own, and passes its blocks on. The thread waits while more
/// than `most_outstanding` bytes are outstanding, that is, passed on and not reported as taken.
///
/// `stop` requests the thread to end and does not wait for it. A thread that is stuck in foreign
/// code is abandoned: its calls no longer have an effect, and it is counted in `options::threads`.
/// If a thread cannot be started, that is reported as the end of the pipeline.
class runner {
public:
  struct options {
    dataset_ptr graph;
    uint64_t seed = 0;
    uint64_t repetition = 0;
    bool leases_splits = false; ///< true under DYNAMIC
    /// Under a static policy: the policy, and the shard of the dataset that the runner reads.
    sharding_policy policy = sharding_policy::off;
    shard_place shard;
    split_log replay;       ///< the answers that earlier runners of the task had
    bool leaving = false;   ///< the runner sends no questions, see `leave`
    uint64_t skip_rows = 0; ///< the number of rows that earlier runners have passed on
    /// Under at_least_once: at intervals, the runner reports which splits the pipeline no longer
    /// needs.
    bool says_done = false;
    /// The most bytes that may be outstanding, that is, passed on and not reported as taken. They
    /// are few, so that they are still in the processor's cache when they are sent. Two blocks may
    /// be outstanding whatever their size.
    size_t most_outstanding = 1 << 20;
    function_finder find_function;             ///< may be empty
    open_service open_distribute;              ///< may be empty
    std::shared_ptr<stopping_threads> threads; ///< may be null
    /// Raised to the number of error rows that the pipeline has left out, unless an earlier
    /// runner of the task counted more; may be null.
    std::shared_ptr<std::atomic<uint64_t>> ignored;
    /// The activity of the operators is counted here; may be null.
    std::shared_ptr<task_profile> profile;
    /// Throws std::system_error if no more threads can be started.
    std::function<std::thread(std::function<void()>)> start_thread =
      [](std::function<void()> body) { return std::thread{std::move(body)}; };
  };
  /// Called on the runner's threads; if the thread could not be started, `ended` is called in
  /// `start`. They must not block. No two calls overlap, except that `produced` may run beside the
  /// others.
  struct callbacks {
    /// Called on the thread that pulls, with the time that the block took to produce; after `stop`
    /// at most for the block that was being passed on. Returns the number of bytes of passed blocks
    /// that are no longer outstanding; these are not reported by `taken`, too.
    std::function<size_t(block, duration)> produced;
    /// Called with a question for splits, or the report that a pass is closed. The answer must be
    /// passed to `give_splits`, unless `leave` was called. Several calls may be unanswered at a
    /// time.
    std::function<void(splits_wish)> wants_splits;
    /// The pipeline has given this many rows, including the skipped ones, and no later row will
    /// descend from these splits. May be empty.
    std::function<void(uint64_t, std::vector<splits_done>)> done = {};
    /// Called last, but not after `stop`: the pipeline reached its end, or could not be made.
    std::function<void(status)> ended;
    /// Called last, but not after `stop`: an exception was thrown that no operator caught.
    std::function<void(status)> crashed;
  };

  explicit runner(options what);
  ~runner();
  runner(const runner&) = delete;

  /// May be called once.
  void start(callbacks hear);
  /// After `stop` has returned, no callback is called, except `produced`.
  void stop();
  /// This many bytes of the passed blocks are no longer outstanding.
  void taken(size_t bytes);
  /// The answer to a question, or to the report of a closed pass, which any answer acknowledges.
  void give_splits(const split_question& which, const result<lease_answer>& what);
  /// As `split_dealer::exhausted`; true if the runner leases no splits.
  bool exhausted() const;
  /// The pipeline ends after the splits that it has begun. Returns the splits that it has not
  /// begun.
  std::vector<unread_splits> leave();

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace headrace::detail
