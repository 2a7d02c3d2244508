#pragma once

#include "headrace/pipeline/iterator/byte_budget.hpp"
#include "headrace/pipeline/iterator/call_gate.hpp"
#include "headrace/pipeline/iterator/call_threads.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/task_arena.h>
#include <optional>
#include <thread>

namespace headrace::detail {

/// Runs a function over the blocks of an input, several at a time: one that computes on the
/// process's workers (oneTBB), one that may wait on threads of its own. A thread pulls the input,
/// so that neither waits for the other.
///
/// At most twice as many blocks as may be in work are held, so that work goes on while the reader
/// is busy.
class parallel_blocks {
public:
  /// Gives rows for the rows of a block, each by itself; must not throw. Called by several threads.
  using function = std::function<block(const block& in, uint64_t& kernel_calls)>;
  struct options {
    std::shared_ptr<call_gate> calls; ///< at a time
    bool ordered = true;              ///< else what is done first comes first
    bool may_wait = false;            ///< the function is not known to compute only
    /// What all that share it may hold; may be null.
    std::shared_ptr<byte_budget> budget = nullptr;
    const clock* time = nullptr; ///< by which calls are chosen; null: the system's
    /// What calls took whose rows were read is added, by the reader; may be null.
    std::atomic<uint64_t>* work_ns = nullptr;
  };

  parallel_blocks(std::unique_ptr<iterator> input, function f, options how, std::stop_token stop);
  /// Calls that run go on; no other begins.
  ~parallel_blocks();

  /// As `iterator::next`; nullopt also when stopped.
  std::optional<block> next(const limits& wanted, uint64_t& kernel_calls);

  /// Blocks that are done, in work or to be taken up.
  size_t ahead() const;
  /// Appends a point of the input, and which rows after it were done with. Never waits.
  void save_to(position& to) const;
  /// @pre `next` was not called
  status restore(position_reader& from);

private:
  struct job;
  struct shared;
  using job_ptr = std::shared_ptr<job>;

  void pull(const std::stop_token& stop);
  void start(const job_ptr& work, size_t counted);
  std::optional<block> take(const limits& wanted, uint64_t& kernel_calls);
  job_ptr chosen() const;
  job_ptr for_the_reader() const;
  job_ptr last_unclaimed() const;
  bool as_many_as_may_be() const;
  void drop_finished();
  budget_share::taken allowed(size_t rows);
  result<block> read_exactly(uint64_t rows);

  std::unique_ptr<iterator> input_; ///< the puller's
  const options options_;
  const std::stop_token stop_;
  // A worker for each core, as the reader's thread mostly waits; unless there are more already.
  std::optional<oneapi::tbb::global_control> workers_;
  oneapi::tbb::task_arena arena_;
  call_threads threads_;           ///< instead of the arena, where the function may wait
  std::shared_ptr<shared> shared_; ///< with the jobs in the arena; its mutex guards what follows
  limits wanted_;
  std::deque<job_ptr> jobs_; ///< in the order of the input
  size_t open_ = 0;          ///< of them, those with rows to give
  position_ptr after_;       ///< what is in `jobs_`; null before anything was read
  bool ended_ = false;
  bool asked_ = false;     ///< the reader waits, and nothing is in work
  bool held_back_ = false; ///< by the budget: there will not be more in work
  std::jthread puller_;    ///< last: it ends before what it uses
};

} // namespace headrace::detail
