#pragma once

#include "headrace/pipeline/iterator/byte_budget.hpp"
#include "headrace/pipeline/iterator/call_gate.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <deque>
#include <functional>
#include <oneapi/tbb/task_arena.h>
#include <thread>

namespace headrace::detail {

/// Runs a function over the blocks of an input, several at a time, in the process's task arena. A
/// thread pulls the input, so that neither waits for the other.
class parallel_blocks {
public:
  /// Gives rows for the rows of a block, each by itself; must not throw. Called by several threads.
  using function = std::function<block(const block& in, uint64_t& kernel_calls)>;
  struct options {
    std::shared_ptr<call_gate> calls; ///< at a time
    bool ordered = true;              ///< else what is done first comes first
    /// What all that share it may hold; may be null.
    std::shared_ptr<byte_budget> budget = nullptr;
    const clock* time = nullptr; ///< by which calls are chosen; null: the system's
  };

  parallel_blocks(std::unique_ptr<iterator> input, function f, options how, std::stop_token stop);

  /// As `iterator::next`; nullopt also when stopped.
  std::optional<block> next(const limits& wanted, uint64_t& kernel_calls);

  /// Blocks that are done or in work.
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
  void start(job_ptr work, size_t counted);
  std::optional<block> take(const limits& wanted, uint64_t& kernel_calls);
  job_ptr chosen() const;
  job_ptr last_unclaimed() const;
  void drop_finished();
  budget_share::taken allowed(size_t rows);
  result<block> read_exactly(uint64_t rows);

  std::unique_ptr<iterator> input_; ///< the puller's
  const options options_;
  const std::stop_token stop_;
  oneapi::tbb::task_arena arena_;
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
