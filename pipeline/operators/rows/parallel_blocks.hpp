#pragma once

#include "headrace/pipeline/engine/byte_budget.hpp"
#include "headrace/pipeline/engine/call_gate.hpp"
#include "headrace/pipeline/engine/call_threads.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"
#include "headrace/pipeline/operators/rows/block_order.hpp"

#include <atomic>
#include <deque>
#include <functional>
#include <oneapi/tbb/global_control.h>
#include <optional>
#include <stop_token>
#include <thread>

namespace headrace::detail {

/// Runs a function over the blocks of an input, several at a time: a function that only computes
/// runs on the process's worker threads (oneTBB), and a function that may block has its own
/// threads. Another thread, the *puller*, pulls the input, so that neither the input nor the
/// function waits for the other. Here the *reader* is the thread that calls `next`.
///
/// The number of blocks that are in work or wait for a thread is bounded. In addition, one finished
/// block for each concurrent call may be held, so that work continues while the reader is busy.
class parallel_blocks {
public:
  /// Computes the rows of the result from the rows of a block, each row separately. Several threads
  /// call the function at the same time. It must not throw.
  using function = std::function<block(const block& in, uint64_t& kernel_calls)>;
  struct options {
    /// Limits the number of calls that run at a time. If one call for each core may run, the
    /// reader's thread may run one more.
    std::shared_ptr<call_gate> calls;
    bool ordered = true;      ///< false: blocks come in the order in which they are done
    bool may_wait = false;    ///< the function may block
    bool costly_rows = false; ///< blocks have one row until the cost of rows is known
    /// The budget for the bytes of blocks that are read ahead, which operators share; may be null.
    std::shared_ptr<byte_budget> budget = nullptr;
    /// The clock by which the number of calls is tuned; null: that of the system.
    const clock* time = nullptr;
    /// The counters of the operator; may be null. They count the time of the calls whose rows were
    /// returned, the time in the input, and the time in which the budget allowed no block.
    op_counters* counters = nullptr;
  };

  parallel_blocks(std::unique_ptr<iterator> input, function f, options how, std::stop_token stop);
  /// Running calls continue; no other call begins.
  ~parallel_blocks();

  /// As `iterator::next`; nullopt also when stopped.
  std::optional<block> next(const limits& wanted, uint64_t& kernel_calls);

  /// The number of blocks that are done, in work, or waiting for a call.
  size_t ahead() const;
  /// Appends a position of the input, and for each block after it the number of rows that were
  /// returned; if `options::ordered` is false, also the order of these blocks. Does not wait.
  void save_to(position& to) const;
  /// @pre `next` was not called
  status restore(position_reader& from);
  /// Not ok: the input has other rows than when the position was saved, and `next` returned
  /// nullopt.
  status failed() const;

private:
  struct job;
  struct shared;
  using job_ptr = std::shared_ptr<job>;

  void pull();
  void start(const job_ptr& work, size_t counted);
  void start_again(result<block> rows, position_ptr before);
  std::optional<block> take(const limits& wanted, uint64_t& kernel_calls);
  job_ptr chosen() const;
  job_ptr next_in_order() const;
  bool next_is_unread() const;
  job_ptr for_the_reader() const;
  job_ptr last_unclaimed() const;
  size_t most_in_work() const;
  bool as_many_as_may_be() const;
  size_t rows_of_a_block() const;
  void drop_finished();
  budget_share::taken allowed(size_t rows);
  /// Counts the time in which the budget allows no rows.
  void note_memory(bool held_back);
  result<block> read_exactly(uint64_t rows);

  std::unique_ptr<iterator> input_; ///< once the puller is started, only the puller uses it
  const options options_;
  const std::stop_token stop_;
  // Raises oneTBB's limit of threads to one worker thread for each core beside the reader's thread,
  // which mostly waits. Not set if the limit is higher already.
  std::optional<oneapi::tbb::global_control> workers_;
  /// Used in place of oneTBB's arena if the function may block, and in builds with sanitizers.
  call_threads threads_;
  /// Shared with the jobs in the arena; its mutex guards the following members.
  std::shared_ptr<shared> shared_;
  std::stop_callback<std::function<void()>> on_stop_;
  limits wanted_;
  std::deque<job_ptr> jobs_; ///< the jobs in the order of the input
  block_order order_;        ///< the order of the rows; the blocks read last are in `jobs_`
  status failed_;
  size_t open_ = 0; ///< the number of jobs that have rows to return
  /// The position after the blocks in `jobs_`; null before the first `next`.
  position_ptr after_;
  bool ended_ = false;
  bool closing_ = false;   ///< the puller has to end
  bool asked_ = false;     ///< the reader waits for a block that was not read yet
  bool held_back_ = false; ///< the budget does not allow a further block
  time_point held_back_since_;
  /// The last member, so that the thread ends before the other members, which the thread uses, are
  /// destroyed.
  std::jthread puller_;
};

} // namespace headrace::detail
