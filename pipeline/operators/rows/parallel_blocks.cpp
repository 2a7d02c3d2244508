#include "headrace/pipeline/operators/rows/parallel_blocks.hpp"

#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/runtime/base/thread_waits.hpp"
#include "headrace/runtime/base/work_timer.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <vector>

namespace headrace::detail {

namespace {

// ThreadSanitizer does not detect how oneTBB passes tasks between threads, and reports each task as
// a race. LeakSanitizer does not search the memory of oneTBB, and reports calls that wait there
// when the process ends. With these sanitizers, `call_threads` runs the calls in place of the
// arena.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr bool own_threads = true;
#else
constexpr bool own_threads = false;
#endif

} // namespace

struct parallel_blocks::shared {
  shared(function f, std::shared_ptr<byte_budget> budget)
    : run(std::move(f)), held(std::move(budget), nullptr, [this] { wake(room); }) {}

  /// Wakes the waiting thread after a change that the mutex does not guard. The mutex is locked
  /// first, so that the thread is not woken between its test of the condition and its wait.
  void wake(std::condition_variable& waiting) {
    { std::lock_guard lock{mutex}; }
    waiting.notify_one();
  }

  /// @pre the mutex is held
  void note_cost(uint64_t took, uint64_t rows) {
    const auto one = std::max<uint64_t>(1, took / std::max<uint64_t>(1, rows));
    row_ns = row_ns == 0 ? one : (3 * row_ns + one) / 4;
  }

  const function run;
  std::mutex mutex;
  // A thread is woken only if it has something to do, and mostly after the mutex was released: a
  // useless wake-up can take longer than the evaluation of a block.
  std::condition_variable rows; ///< wakes the reader: there may be rows, or a block to evaluate
  std::condition_variable room; ///< wakes the puller: there may be room for a further block
  /// The job for whose block the reader waits; null: the reader waits for any block.
  const job* awaited = nullptr;
  /// The puller waits for the end of a call.
  bool room_awaited = false;
  size_t in_work = 0;  ///< the number of jobs that are not done; they run or wait for a thread
  uint64_t row_ns = 0; ///< the average cost of the last rows; 0: not known
  budget_share held;
};

/// One block that is being passed through the function. The thread that claims the job evaluates
/// it.
struct parallel_blocks::job {
  job(block in, position_ptr at, uint64_t n)
    : number(n), before(std::move(at)), read(in.rows), rows(std::move(in)) {}

  void run_if_unclaimed(shared& with) {
    if (claimed.exchange(true))
      return;
    uint64_t calls = 0;
    const auto begin = clock::system().now();
    const own_waits waits;
    const work_timer work;
    auto out = with.run(rows, calls);
    const auto cost = work.took();
    const auto took = static_cast<uint64_t>((clock::system().now() - begin).count());
    const auto read = std::min(waits.so_far().storage_ns, took);
    const auto bytes = out.bytes();
    size_t over = 0;
    bool wakes_reader = false, wakes_puller = false;
    {
      std::lock_guard lock{with.mutex};
      if (ahead) {
        over = with.held.settle(counted, out.rows, bytes);
        counted = bytes;
      }
      rows = std::move(out);
      kernel_calls = calls;
      work_ns = took - read;
      storage_ns = read;
      with.note_cost(static_cast<uint64_t>(cost.count()), this->read);
      done = true;
      --with.in_work;
      wakes_reader = with.awaited == nullptr || with.awaited == this;
      wakes_puller = std::exchange(with.room_awaited, false);
    }
    if (wakes_reader)
      with.rows.notify_one();
    if (wakes_puller)
      with.room.notify_one();
    with.held.give_back(over);
  }
  bool finished() const { return done && given >= rows.rows; }

  const uint64_t number;
  const position_ptr before; ///< the position of the input before the block
  const uint64_t read;       ///< the number of rows of the input
  std::atomic<bool> claimed{false};
  block rows;         ///< the rows of the input; later those of the result
  uint64_t given = 0; ///< the number of rows of the result that were returned
  uint64_t kernel_calls = 0;
  uint64_t work_ns = 0;
  uint64_t storage_ns = 0;
  size_t counted = 0; ///< the bytes that are counted in the budget
  /// The block is read ahead: the reader does not wait for it, so its bytes are counted.
  bool ahead = false;
  bool no_one = false; ///< there is no thread for the job except the reader's
  bool done = false;
};

namespace {

// The most jobs that are kept for each concurrent call. A job that is finished out of order is kept
// until all earlier jobs are finished, and each kept job makes positions larger: hence the bound.
constexpr size_t most_jobs_a_call = 64;
/// The approximate limit for the cost of all rows of a block, in nanoseconds.
constexpr uint64_t most_block_ns = 5'000'000;
constexpr auto all = block_order::all;

/// The arena of all operators. It is never destroyed: if an arena is destroyed before its calls
/// have run, oneTBB leaks some KiB of it, and operators that are not read to the end have such
/// calls.
oneapi::tbb::task_arena& arena() {
  static auto& one = *new oneapi::tbb::task_arena{oneapi::tbb::info::default_concurrency(), 0};
  return one;
}

} // namespace

parallel_blocks::parallel_blocks(std::unique_ptr<iterator> input, function f, options how,
                                 std::stop_token stop)
  : input_(std::move(input)),
    options_(std::move(how)),
    stop_(std::move(stop)),
    shared_(std::make_shared<shared>(std::move(f), options_.budget)),
    on_stop_(stop_, [with = shared_] { with->wake(with->rows); }),
    order_(options_.ordered) {
  using oneapi::tbb::global_control;
  // The lowest limit of all `global_control` objects applies. If another part of the process has
  // set a higher limit than `wanted`, that limit stays: a limit that is set here would lower it.
  const auto wanted = static_cast<size_t>(oneapi::tbb::info::default_concurrency()) + 1;
  if (global_control::active_value(global_control::max_allowed_parallelism) <= wanted)
    workers_.emplace(global_control::max_allowed_parallelism, wanted);
}

parallel_blocks::~parallel_blocks() {
  if (puller_.joinable()) {
    {
      std::lock_guard lock{shared_->mutex};
      closing_ = true;
    }
    shared_->room.notify_one();
    puller_.join();
  }
  for (const auto& work : jobs_) work->claimed = true;
}

std::optional<block> parallel_blocks::next(const limits& wanted, uint64_t& kernel_calls) {
  const auto& time = options_.time ? *options_.time : clock::system();
  const auto began = time.now();
  auto out = take(wanted, kernel_calls);
  if (out)
    options_.calls->record(began, time.now(), out->rows, out->bytes());
  return out;
}

std::optional<block> parallel_blocks::take(const limits& wanted, uint64_t& kernel_calls) {
  std::unique_lock lock{shared_->mutex};
  wanted_ = wanted;
  if (!puller_.joinable()) {
    if (!after_)
      after_ = input_->save();
    puller_ = std::jthread{[this] { pull(); }};
  }
  while (true) {
    const auto over = [this] { return ended_ && open_ == 0; };
    const auto is_there = [&] {
      if (stop_.stop_requested() || chosen() || for_the_reader() || over())
        return true;
      if ((open_ == 0 || next_is_unread()) && !asked_) {
        asked_ = true;
        shared_->room.notify_one();
      }
      shared_->awaited = order_.is_fixed() ? next_in_order().get() : nullptr;
      return false;
    };
    shared_->rows.wait(lock, is_there);
    if (stop_.stop_requested())
      return std::nullopt;
    auto from = chosen();
    if (!from) {
      if (over())
        return std::nullopt;
      from = for_the_reader();
      if (!from) // another thread has just claimed the job
        continue;
      lock.unlock();
      from->run_if_unclaimed(*shared_);
      lock.lock();
      if (!order_.is_fixed())
        continue;
      shared_->awaited = from.get();
      shared_->rows.wait(lock, [&] { return from->done || stop_.stop_requested(); });
      if (!from->done)
        return std::nullopt;
    }
    order_.note_choice(from->number, from->given);
    kernel_calls += std::exchange(from->kernel_calls, 0);
    if (auto* counts = options_.counters) {
      counts->work_ns += std::exchange(from->work_ns, 0);
      counts->storage_ns += std::exchange(from->storage_ns, 0);
    }
    const auto left = from->rows.rows - std::min<uint64_t>(from->given, from->rows.rows);
    auto out = from->rows.slice(from->rows.rows - left, std::min<uint64_t>(wanted.rows, left));
    from->given += out.rows;
    if (from->finished()) {
      const auto freed = std::exchange(from->counted, 0);
      from->rows = {};
      from->given = all;
      order_.note_end();
      --open_;
      drop_finished();
      lock.unlock();
      shared_->room.notify_one();
      shared_->held.give_back(freed);
      lock.lock();
    }
    if (out.rows != 0)
      return out;
  }
}

// The job whose rows are returned next, if it is done. In a fixed order it is the next job of that
// order; otherwise the job of which some rows were returned already, or else the first done job.
parallel_blocks::job_ptr parallel_blocks::chosen() const {
  if (order_.is_fixed()) {
    auto next = next_in_order();
    return next && next->done ? next : nullptr;
  }
  job_ptr out;
  for (const auto& x : jobs_) {
    if (!x->done || x->given == all)
      continue;
    if (x->given != 0)
      return x;
    if (!out)
      out = x;
  }
  return out;
}

parallel_blocks::job_ptr parallel_blocks::next_in_order() const {
  if (jobs_.empty() || next_is_unread())
    return nullptr;
  const auto number = order_.next();
  return number ? jobs_[*number - jobs_.front()->number] : jobs_.front();
}

bool parallel_blocks::next_is_unread() const {
  const auto number = order_.next();
  return number && *number >= order_.number();
}

// A job that the reader should evaluate instead of waiting; null: none. In a fixed order it is the
// next job. Otherwise it is the last job that no thread has claimed, if no further block may be
// read now. If the function may block, the reader evaluates a job only if the system had no thread
// for the job.
parallel_blocks::job_ptr parallel_blocks::for_the_reader() const {
  job_ptr out;
  if (order_.is_fixed())
    out = next_in_order();
  else if (ended_ || held_back_ || as_many_as_may_be())
    out = last_unclaimed();
  return out && options_.may_wait && !out->no_one ? nullptr : out;
}

parallel_blocks::job_ptr parallel_blocks::last_unclaimed() const {
  const auto at =
    std::find_if(jobs_.rbegin(), jobs_.rend(), [](const auto& x) { return !x->claimed; });
  return at == jobs_.rend() ? nullptr : *at;
}

void parallel_blocks::drop_finished() {
  while (!jobs_.empty() && jobs_.front()->given == all) jobs_.pop_front();
}

// @pre the mutex is held
void parallel_blocks::start(const job_ptr& work, size_t counted) {
  work->counted = counted;
  work->ahead = counted != 0;
  asked_ = false;
  jobs_.push_back(work);
  ++open_;
  ++shared_->in_work;
  auto call = [work, with = shared_] { work->run_if_unclaimed(*with); };
  if (options_.may_wait || own_threads)
    work->no_one = !threads_.run(std::move(call));
  else
    arena().enqueue(std::move(call));
}

// Adds a job for a block that a restored order needs with the same rows as before. If all rows of
// its result were returned already, the function is not called. @pre the mutex is held
void parallel_blocks::start_again(result<block> rows, position_ptr before) {
  if (!rows) {
    failed_ = rows.status();
    order_.forget();
    ended_ = true;
    return;
  }
  const auto given = order_.planned()->given;
  const auto work = std::make_shared<job>(*std::move(rows), std::move(before), order_.number());
  order_.note_read(work->read);
  work->given = given;
  if (given != all)
    return start(work, 0);
  work->rows = {};
  work->claimed = work->done = true;
  jobs_.push_back(work);
  drop_finished();
}

// If as many calls may run as the arena has threads, twice as many blocks may be in work: the
// additional blocks wait for a thread, so that a thread that is done takes the next block at once,
// and need not sleep until the puller has woken up.
size_t parallel_blocks::most_in_work() const {
  const auto most = options_.calls->calls();
  const bool queued = !options_.may_wait && !own_threads
                      && most >= static_cast<size_t>(oneapi::tbb::info::default_concurrency());
  return queued ? 2 * most : most;
}

bool parallel_blocks::as_many_as_may_be() const {
  const auto most = options_.calls->calls(), queued = most_in_work();
  return shared_->in_work >= queued || open_ >= queued + most
         || jobs_.size() >= most * most_jobs_a_call;
}

// Costly rows are read in small blocks, so that all calls have work, and the tuner has measurements
// soon.
size_t parallel_blocks::rows_of_a_block() const {
  const auto cost = shared_->row_ns;
  // Blocks are not made smaller for a function that may block, because it can have a fixed cost for
  // each block.
  if (options_.may_wait)
    return wanted_.rows;
  if (cost == 0)
    return options_.costly_rows ? 1 : wanted_.rows;
  return std::clamp<size_t>(most_block_ns / cost, 1, wanted_.rows);
}

// The number of rows that may be pulled now, and the bytes that are counted for them. No bytes are
// counted for a block that a restored order needs. If the budget has no room, no bytes are counted
// for rows for which the reader waits.
budget_share::taken parallel_blocks::allowed(size_t rows) {
  if (const auto* next = order_.planned(); next && (asked_ || !as_many_as_may_be()))
    return {next->rows, 0};
  if (as_many_as_may_be())
    return {};
  const auto out = shared_->held.take(rows);
  note_memory(out.rows == 0);
  if (out.rows != 0)
    return out;
  return {asked_ ? rows : 0, 0};
}

void parallel_blocks::note_memory(bool held_back) {
  const auto before = std::exchange(held_back_, held_back);
  if (options_.counters != nullptr && (before || held_back)) {
    const auto now = clock::system().now();
    if (before)
      options_.counters->memory_ns += static_cast<uint64_t>((now - held_back_since_).count());
    held_back_since_ = now;
  }
  if (held_back && !before)
    shared_->rows.notify_one();
}

void parallel_blocks::pull() {
  std::unique_lock lock{shared_->mutex};
  budget_share::taken may;
  const auto may_read = [&] {
    may = allowed(rows_of_a_block());
    shared_->room_awaited = may.rows == 0 && shared_->in_work >= most_in_work();
    return may.rows != 0;
  };
  while (true) {
    shared_->room.wait(lock, [&] { return closing_ || may_read(); });
    if (closing_)
      break;
    auto wanted = wanted_;
    wanted.rows = may.rows;
    const bool as_before = order_.planned() != nullptr;
    lock.unlock();
    const auto began = options_.counters != nullptr ? clock::system().now() : time_point{};
    std::optional<block> in;
    result<block> again = block{};
    if (as_before)
      again = read_exactly(may.rows);
    else
      in = input_->next(wanted);
    if (options_.counters != nullptr)
      options_.counters->below_ns += static_cast<uint64_t>((clock::system().now() - began).count());
    auto after = input_->save();
    lock.lock();
    auto before = std::exchange(after_, std::move(after));
    if (as_before) {
      start_again(std::move(again), std::move(before));
    } else if (in) {
      const auto number = order_.number();
      order_.note_read(in->rows);
      start(std::make_shared<job>(*std::move(in), std::move(before), number), may.bytes);
    } else {
      ended_ = true;
    }
    const bool wakes_reader = ended_ || !options_.ordered || jobs_.size() == 1 || options_.may_wait;
    const bool ended = ended_;
    lock.unlock();
    if (wakes_reader)
      shared_->rows.notify_one();
    if (ended) {
      shared_->held.give_back(may.bytes);
      return;
    }
    lock.lock();
  }
}

size_t parallel_blocks::ahead() const {
  std::lock_guard lock{shared_->mutex};
  return jobs_.size();
}

status parallel_blocks::failed() const {
  std::lock_guard lock{shared_->mutex};
  return failed_;
}

void parallel_blocks::save_to(position& to) const {
  std::lock_guard lock{shared_->mutex};
  std::vector<block_order::read_block> read;
  for (const auto& work : jobs_) read.push_back({work->read, work->given});
  order_.save_to(to, std::move(read));
  to.parts.push_back(!jobs_.empty() ? jobs_.front()->before : after_ ? after_ : input_->save());
}

status parallel_blocks::restore(position_reader& from) {
  HEADRACE_TRY(from.restore(*input_));
  std::lock_guard lock{shared_->mutex};
  order_.restore(from);
  return {};
}

result<block> parallel_blocks::read_exactly(uint64_t rows) {
  std::deque<block> pieces;
  std::vector<const block*> views;
  std::vector<row_run> runs;
  for (auto left = rows; left != 0;) {
    auto more = input_->next({static_cast<size_t>(left), limits{}.bytes});
    if (!more && !pieces.empty() && !pieces.back().errors.empty())
      return pieces.back().errors.back().why.that_ends_run(); // the error may have ended the input
    if (!more)
      return data_changed();
    left -= more->rows;
    runs.push_back({static_cast<uint32_t>(views.size()), 0, static_cast<uint32_t>(more->rows)});
    pieces.push_back(*std::move(more));
    views.push_back(&pieces.back());
  }
  uint64_t unused = 0;
  return runs.empty() ? block{} : gather_rows(views, runs, unused);
}

} // namespace headrace::detail
