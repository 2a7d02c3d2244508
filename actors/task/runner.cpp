#include "headrace/actors/task/runner.hpp"

#include "headrace/pipeline/storage/memory_cache.hpp"
#include "headrace/runtime/base/thread_time.hpp"
#include "headrace/runtime/base/thread_waits.hpp"
#include "headrace/runtime/base/work_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <pthread.h>
#include <set>
#include <stop_token>
#include <system_error>
#include <thread>

namespace headrace::detail {

struct runner::shared {
  options what;
  callbacks hear;
  std::function<size_t(block, duration)> produced; ///< as in `callbacks`; used by the thread only
  std::stop_source halt;                           ///< ends all waits of the pipeline
  bool stopped = false;
  std::mutex mutex;
  std::condition_variable_any changed;
  size_t outstanding = 0;
  size_t goes_on_at = SIZE_MAX; ///< the thread waits until at most this many bytes are outstanding
  std::thread::id thread;
  std::atomic<uint64_t> ignored = 0; ///< error rows that the pipeline has left out
  duration waited_for_splits{0};     ///< how long the runner's thread waited since the last block
  /// The time of the next report of done splits; used by the thread only.
  time_point says_done_at{};
  std::unique_ptr<split_dealer> dealer; ///< null unless splits are leased
  std::set<split_question> asked;       ///< questions for whose answers threads wait
  std::set<split_question> closed;      ///< closed passes that the job has not acknowledged yet
  /// Questions with the errors that were returned in place of answers.
  std::map<split_question, status> refused;
  bool runs = false;
  /// The thread's token in `what.threads`; set when the thread was requested to stop.
  stopping_threads::token stopping = 0;
  clockid_t cpu_clock{}; ///< the clock of the thread's processor time, while it runs

  status pull();
  void count_ignored(uint64_t more);
  void run();
  void give(block rows, size_t bytes, duration took);
  void say_done(const iterator& source, uint64_t rows);
  result<split_answer> next_splits(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                                   const std::shared_ptr<const split_listing>& listing);
  status same_listing(uint32_t source, const std::shared_ptr<const split_listing>& listing);
  void close_splits(uint32_t source, uint64_t pass, split_range unread);
  bool closes(uint32_t source) const {
    return std::ranges::any_of(closed, [&](const auto& x) { return x.source == source; });
  }
};

namespace {

/// The least time between two reports of done splits.
constexpr auto done_interval = std::chrono::milliseconds{50};
/// For a report the runner saves the position of the pipeline, which takes long if it contains, for
/// instance, the buffer of a shuffle. So the time between two reports is at least this many times
/// the time that the report took.
constexpr int done_pause = 100;

/// Gives the sources the splits that the task is leased.
template <class Shared>
class leased_splits final : public split_provider {
public:
  explicit leased_splits(Shared& from) : from_(from) {}
  result<split_answer> next(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                            const std::shared_ptr<const split_listing>& listing) override {
    return from_.next_splits(source, pass, total, listing);
  }
  void close(uint32_t source, uint64_t pass, split_range unread) override {
    from_.close_splits(source, pass, unread);
  }

private:
  Shared& from_;
};

/// While this object exists, the activity of a graph's operators is counted in the profile, if any.
class counted_operators {
public:
  counted_operators(const dataset_ptr& graph, std::shared_ptr<task_profile> in,
                    iterator_context& context)
    : profile_(std::move(in)) {
    if (!profile_)
      return;
    table_ = std::make_shared<operator_table>(graph);
    context.counters = [table = table_](const dataset_node& node) { return table->counters(node); };
    profile_->began(table_);
  }
  ~counted_operators() {
    if (profile_)
      profile_->ended();
  }
  counted_operators(const counted_operators&) = delete;

private:
  std::shared_ptr<task_profile> profile_;
  std::shared_ptr<operator_table> table_; ///< outlives the iterators
};

/// The number of elements, but at most `most`.
result<int64_t> count_rows(const dataset_ptr& names, int64_t most,
                           const iterator_context& context) {
  HEADRACE_ASSIGN(auto source, make_iterator(names, context));
  int64_t out = 0;
  status failed;
  while (out < most) {
    const auto rows = source->next({.rows = static_cast<size_t>(most - out)});
    if (!rows)
      break;
    // An error row counts as an element. If there are fewer than `most` elements, its error is
    // returned instead, because the error may have ended the dataset.
    if (!rows->errors.empty() && failed.ok())
      failed = rows->errors.front().why;
    out += static_cast<int64_t>(rows->rows);
  }
  if (out < most && !failed.ok())
    return failed;
  return out;
}

} // namespace

// -- on the thread ------------------------------------------------------------------

result<split_answer>
runner::shared::next_splits(uint32_t source, uint64_t pass, std::optional<uint64_t> total,
                            const std::shared_ptr<const split_listing>& listing) {
  std::unique_lock lock{mutex};
  const timed_wait waits{&thread_waits::lease_ns};
  const auto wait = [&](auto&& done) {
    const auto begin = clock::system().now();
    const bool is_done = changed.wait(lock, halt.get_token(), done);
    // A thread that reads ahead may also wait here, without delaying the runner's thread.
    if (std::this_thread::get_id() == thread)
      waited_for_splits += clock::system().now() - begin;
    return is_done ? status{} : cancelled("the task was stopped");
  };
  for (;;) {
    // The unread splits of the closed pass must be sent to the job before a question about the next
    // pass.
    HEADRACE_TRY(wait([&] { return !closes(source); }));
    const auto step = dealer->next(source, pass);
    if (const auto* splits = std::get_if<split_range>(&step))
      return split_answer{*splits};
    if (const auto* over = std::get_if<pass_over>(&step))
      return split_answer{*over};
    const auto which = std::get<split_question>(step);
    asked.insert(which);
    if (!stopped)
      hear.wants_splits({.which = which, .total = total, .listing = listing});
    HEADRACE_TRY(wait([&] { return !asked.contains(which); }));
    if (const auto why = refused.extract(which))
      return why.mapped();
  }
}

/// Sends the job the listing of a source in a question, and waits for the answer. Used only under a
/// static policy: no splits are leased there, and the job only compares the listings of its tasks.
status runner::shared::same_listing(uint32_t source,
                                    const std::shared_ptr<const split_listing>& listing) {
  std::unique_lock lock{mutex};
  const split_question which{source, 0, 0};
  asked.insert(which);
  if (!stopped)
    hear.wants_splits({.which = which, .listing = listing});
  if (!changed.wait(lock, halt.get_token(), [&] { return !asked.contains(which); }))
    return cancelled("the task was stopped");
  const auto why = refused.extract(which);
  return why ? why.mapped() : status{};
}

void runner::shared::close_splits(uint32_t source, uint64_t pass, split_range unread) {
  std::lock_guard lock{mutex};
  // A runner that is stopped closes no pass: its task is over, or another runner continues.
  if (stopped || halt.stop_requested())
    return;
  const auto rest = dealer->close(source, pass, unread);
  if (!rest)
    return;
  const split_question which{rest->source, rest->pass, rest->answered};
  closed.insert(which);
  hear.wants_splits({.which = which, .closes = rest});
}

void runner::shared::give(block rows, size_t bytes, duration took) {
  {
    std::lock_guard lock{mutex};
    outstanding += bytes;
  }
  // The mutex is not locked: `produced` may send the rows, and `taken` may be called meanwhile.
  const auto taken = halt.stop_requested() ? 0 : produced(std::move(rows), took);
  std::unique_lock lock{mutex};
  outstanding -= std::min(taken, outstanding);
  if (outstanding <= std::max(what.most_outstanding, bytes))
    return;
  // The thread continues only when there is room for several blocks, so that it waits seldom.
  goes_on_at = std::max(what.most_outstanding / 2, bytes);
  changed.wait(lock, halt.get_token(), [&] { return outstanding <= goes_on_at; });
  goes_on_at = SIZE_MAX;
}

void runner::shared::say_done(const iterator& source, uint64_t rows) {
  const auto begin = clock::system().now();
  if (!what.says_done || begin < says_done_at)
    return;
  auto done = splits_done_at(*source.save());
  const auto end = clock::system().now();
  says_done_at = end + std::max<duration>(done_interval, done_pause * (end - begin));
  std::lock_guard lock{mutex};
  if (done && !stopped && hear.done)
    hear.done(rows, *std::move(done));
}

void runner::shared::count_ignored(uint64_t more) {
  const auto sum = ignored += more;
  // An earlier runner may have counted more elements.
  auto known = what.ignored->load();
  while (known < sum && !what.ignored->compare_exchange_weak(known, sum)) {
  }
}

status runner::shared::pull() {
  leased_splits leases{*this};
  iterator_context context;
  context.stop = halt.get_token();
  context.splits = what.leases_splits ? &leases : nullptr;
  // The graph may be shared with other runs in this process, so each run has caches of its own.
  run_caches caches;
  context.caches = &caches;
  context.find_function = what.find_function;
  const auto count = [&](const dataset_ptr& names, int64_t most) {
    return count_rows(names, most, context);
  };
  HEADRACE_ASSIGN(const auto graph, auto_shard(what.graph, what.policy, what.shard, count));
  // Listings are not compared while `auto_shard` counts files, because the sources have other
  // numbers in that part of the graph.
  if (what.shard.shards > 1)
    context.same_listing = [this](uint32_t source, const auto& listing) {
      return same_listing(source, listing);
    };
  inner_services services{graph, what.leases_splits, what.seed, what.open_distribute};
  context.distribute = [&](const dataset_node& node) {
    return services.open(node, halt.get_token());
  };
  context.seed = what.seed;
  context.repetition = what.repetition;
  if (what.ignored)
    context.ignored = [this](uint64_t more) { count_ignored(more); };
  const counted_operators counted{graph, what.profile, context};
  HEADRACE_ASSIGN(auto source, make_iterator(graph, context));
  // The destructor of `source` waits for the threads that read ahead, and these may wait for
  // splits: `release` is destroyed first, and ends their waits.
  const std::unique_ptr<std::stop_source, void (*)(std::stop_source*)> release{
    &halt, [](std::stop_source* x) { x->request_stop(); }};
  thread = std::this_thread::get_id();
  block_ramp ramp;
  auto skip = what.skip_rows;
  uint64_t given = 0;
  while (!halt.stop_requested()) {
    // The size of blocks is chosen by the time for one row, without the time in which the runner
    // waited for the job.
    waited_for_splits = {};
    const work_timer timer;
    auto rows = source->next(ramp.next());
    if (!rows)
      break;
    const auto took = timer.took() - waited_for_splits;
    ramp.record(rows->rows, rows->bytes(), took);
    given += rows->rows;
    if (const auto dropped = std::min<uint64_t>(skip, rows->rows); dropped != 0) {
      skip -= dropped;
      if (dropped == rows->rows)
        continue;
      rows = rows->slice(dropped, rows->rows - dropped);
    }
    const auto bytes = rows->bytes();
    give(*std::move(rows), bytes, took);
    say_done(*source, given);
  }
  // The destructor of the pipeline gives back to the job the splits that the pipeline has not read,
  // unless the runner was stopped.
  source.reset();
  return {};
}

void runner::shared::run() {
  auto crashed = false;
  status how;
  try {
    how = pull();
  } catch (const std::exception& thrown) {
    crashed = true;
    how = internal_error(fmt::format("the pipeline's thread threw: {}", thrown.what()));
  } catch (...) {
    crashed = true;
    how = internal_error("the pipeline's thread threw something that is no std::exception");
  }
  produced = nullptr;
  std::lock_guard lock{mutex};
  runs = false;
  if (!stopped)
    (crashed ? hear.crashed : hear.ended)(how);
  else if (what.threads)
    what.threads->remove(stopping);
}

// -- from outside ---------------------------------------------------------------------

runner::runner(options what) : shared_(std::make_shared<shared>()) {
  if (what.leases_splits)
    shared_->dealer =
      std::make_unique<split_dealer>(plan_splits(what.graph), std::move(what.replay), what.leaving);
  shared_->what = std::move(what);
}

runner::~runner() { stop(); }

void runner::start(callbacks hear) {
  std::unique_lock lock{shared_->mutex};
  shared_->produced = std::move(hear.produced);
  shared_->hear = std::move(hear);
  try {
    auto thread = shared_->what.start_thread([s = shared_] { s->run(); });
    shared_->runs = true;
    ::pthread_getcpuclockid(thread.native_handle(), &shared_->cpu_clock);
    thread.detach();
  } catch (const std::system_error& why) {
    shared_->hear.ended(resource_exhausted(fmt::format(
      "a thread for the pipeline could not be started ({}): the machine or this user's limits "
      "allow no more threads; run fewer tasks, or raise the limit (ulimit -u)",
      why.what())));
  }
}

void runner::stop() {
  std::lock_guard lock{shared_->mutex};
  if (std::exchange(shared_->stopped, true))
    return;
  if (shared_->runs && shared_->what.threads)
    shared_->stopping = shared_->what.threads->add(
      clock::system().now(), [which = shared_->cpu_clock] { return cpu_time_of(which); });
  shared_->halt.request_stop();
  shared_->hear = {};
}

void runner::taken(size_t bytes) {
  std::lock_guard lock{shared_->mutex};
  const auto before = shared_->outstanding;
  shared_->outstanding -= std::min(bytes, before);
  if (before > shared_->goes_on_at && shared_->outstanding <= shared_->goes_on_at)
    shared_->changed.notify_all();
}

void runner::give_splits(const split_question& which, const result<lease_answer>& what) {
  std::lock_guard lock{shared_->mutex};
  if (shared_->closed.erase(which) == 0) {
    if (shared_->asked.erase(which) == 0)
      return;
    if (!what)
      shared_->refused[which] = what.status();
    else if (shared_->dealer)
      shared_->dealer->answered(which, *what);
  }
  shared_->changed.notify_all();
}

bool runner::exhausted() const {
  std::lock_guard lock{shared_->mutex};
  return !shared_->dealer || shared_->dealer->exhausted();
}

std::vector<unread_splits> runner::leave() {
  std::lock_guard lock{shared_->mutex};
  if (!shared_->dealer)
    return {};
  shared_->asked.clear();
  shared_->closed.clear();
  shared_->changed.notify_all();
  return shared_->dealer->leave();
}

} // namespace headrace::detail
