#include "headrace/actors/task/runner.hpp"

#include "headrace/runtime/base/work_timer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <ctime>
#include <mutex>
#include <pthread.h>
#include <stop_token>
#include <system_error>
#include <thread>

namespace headrace {

struct runner::shared {
  options what;
  callbacks hear;
  std::stop_source halt; ///< ends all waits of the pipeline
  bool stopped = false;
  std::mutex mutex;
  std::condition_variable_any changed;
  size_t outstanding = 0;
  size_t goes_on_at = SIZE_MAX; ///< outstanding bytes, while the thread waits
  std::thread::id thread;
  std::atomic<uint64_t> ignored = 0;    ///< failed elements that the pipeline left out
  duration waited_for_splits{0};        ///< that thread's, since the last block
  std::unique_ptr<split_dealer> dealer; ///< null under OFF
  std::optional<split_question> asked;  ///< the thread waits for the answer
  status no_answer;                     ///< what it was instead of one
  bool runs = false;
  stopping_threads::token stopping = 0; ///< among `what.threads`, once it was told to stop
  clockid_t cpu_clock{};                ///< the thread's, as long as it runs

  status pull();
  void count_ignored(uint64_t more);
  void run();
  void give(block rows, size_t bytes);
  result<std::optional<split_range>> next_splits(uint32_t source, uint64_t pass,
                                                 std::optional<uint64_t> total);
};

namespace {

/// Zero if the clock cannot be read.
duration cpu_time_of(clockid_t which) {
  timespec used{};
  if (::clock_gettime(which, &used) != 0)
    return duration{0};
  return std::chrono::seconds{used.tv_sec} + std::chrono::nanoseconds{used.tv_nsec};
}

/// The runner's side of the lease protocol.
template <class Shared>
class leased_splits final : public split_provider {
public:
  explicit leased_splits(Shared& from) : from_(from) {}
  result<std::optional<split_range>> next(uint32_t source, uint64_t pass,
                                          std::optional<uint64_t> total) override {
    return from_.next_splits(source, pass, total);
  }

private:
  Shared& from_;
};

} // namespace

// -- on the thread ------------------------------------------------------------------

result<std::optional<split_range>> runner::shared::next_splits(uint32_t source, uint64_t pass,
                                                               std::optional<uint64_t> total) {
  std::unique_lock lock{mutex};
  for (;;) {
    const auto step = dealer->next(source, pass);
    if (const auto* splits = std::get_if<split_range>(&step))
      return std::optional{*splits};
    if (std::holds_alternative<split_dealer::over>(step))
      return std::optional<split_range>{};
    asked = std::get<split_question>(step);
    if (!stopped)
      hear.wants_splits(*asked, total);
    const auto begin = clock::system().now();
    if (!changed.wait(lock, halt.get_token(), [&] { return !asked; }))
      return cancelled("the task was stopped");
    // A thread that reads ahead asks, too; that is nobody's wait.
    if (std::this_thread::get_id() == thread)
      waited_for_splits += clock::system().now() - begin;
    if (!no_answer.ok())
      return std::exchange(no_answer, {});
  }
}

void runner::shared::give(block rows, size_t bytes) {
  std::unique_lock lock{mutex};
  outstanding += bytes;
  if (!stopped)
    hear.produced(std::move(rows));
  if (outstanding <= std::max(what.most_outstanding, bytes))
    return;
  // It stops seldom, and goes on when there is room for several blocks again.
  goes_on_at = std::max(what.most_outstanding / 2, bytes);
  changed.wait(lock, halt.get_token(), [&] { return outstanding <= goes_on_at; });
  goes_on_at = SIZE_MAX;
}

void runner::shared::count_ignored(uint64_t more) {
  const auto sum = ignored += more;
  // An earlier runner may have come further.
  auto known = what.ignored->load();
  while (known < sum && !what.ignored->compare_exchange_weak(known, sum)) {
  }
}

status runner::shared::pull() {
  leased_splits leases{*this};
  iterator_context context;
  context.stop = halt.get_token();
  context.splits = what.leases_splits ? &leases : nullptr;
  context.find_function = what.find_function;
  inner_services services{what.graph, what.leases_splits, what.seed, what.open_distribute};
  context.distribute = [&](const dataset_node& node) {
    return services.open(node, halt.get_token());
  };
  context.seed = what.seed;
  context.repetition = what.repetition;
  if (what.ignored)
    context.ignored = [this](uint64_t more) { count_ignored(more); };
  HEADRACE_ASSIGN(auto source, make_iterator(what.graph, context));
  // However this ends: threads that read ahead may wait for splits, and are waited for.
  const std::unique_ptr<std::stop_source, void (*)(std::stop_source*)> release{
    &halt, [](std::stop_source* x) { x->request_stop(); }};
  thread = std::this_thread::get_id();
  block_ramp ramp;
  auto skip = what.skip_rows;
  while (!halt.stop_requested()) {
    // What a row costs is what counts, not how busy the machine is, nor how far off the job.
    waited_for_splits = {};
    const work_timer timer;
    auto rows = source->next(ramp.next());
    if (!rows)
      break;
    ramp.record(rows->rows, rows->bytes(), timer.took() - waited_for_splits);
    if (const auto dropped = std::min<uint64_t>(skip, rows->rows); dropped != 0) {
      skip -= dropped;
      if (dropped == rows->rows)
        continue;
      rows = rows->slice(dropped, rows->rows - dropped);
    }
    const auto bytes = rows->bytes();
    give(*std::move(rows), bytes);
  }
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

void runner::give_splits(result<std::optional<split_range>> what) {
  std::lock_guard lock{shared_->mutex};
  auto& asked = shared_->asked;
  if (!asked)
    return;
  if (what)
    shared_->dealer->answered(*asked, *what);
  else
    shared_->no_answer = what.status();
  asked.reset();
  shared_->changed.notify_all();
}

std::vector<unread_splits> runner::leave() {
  std::lock_guard lock{shared_->mutex};
  if (!shared_->dealer)
    return {};
  shared_->asked.reset();
  shared_->changed.notify_all();
  return shared_->dealer->leave();
}

} // namespace headrace
