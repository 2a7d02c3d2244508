#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/iterator/op_counters.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <condition_variable>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::range;

/// A clock that is advanced in two cases only: calls of the mapped function advance it while the
/// reader, which is the thread that reads the rows, waits for rows; and the test advances it with
/// `pass` between reads. So the tuner measures the same times in every run, however threads are
/// scheduled.
class staged_time final : public clock {
public:
  explicit staged_time(std::thread::id reader) : reader_(reader) {}

  // The reader reads the clock before and after each wait, so every second reading ends a wait.
  time_point now() const noexcept override {
    std::lock_guard lock{mutex_};
    if (std::this_thread::get_id() == reader_) {
      waiting_ = !waiting_;
      changed_.notify_all();
    }
    return now_;
  }
  void pass(duration time) {
    std::lock_guard lock{mutex_};
    now_ += time;
  }
  /// Blocks until the reader waits, or `end` was called, and then lets `time` pass.
  void pass_while_the_reader_waits(duration time) {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return waiting_ || over_; });
    now_ += time;
  }
  void end() {
    std::lock_guard lock{mutex_};
    over_ = true;
    changed_.notify_all();
  }

private:
  const std::thread::id reader_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  mutable bool waiting_ = false;
  bool over_ = false;
  time_point now_{};
};

TEST(Autotune, GivesAMapMoreCallsWhileItsReaderWaitsAndTakesThemBackAfterwards) {
  auto f = std::make_shared<function>();
  const auto in = range(0, 1 << 20);
  f->argument = f->declared = in->spec;
  f->named = {"costly"};
  const auto map = make_map(in, f, -1).value();
  const auto graph = make_options(map, {.threads = 4}).value();

  // The calls share the ownership of the stage, because calls whose results are not read continue
  // after the test.
  struct stage {
    staged_time time{std::this_thread::get_id()};
    std::atomic<bool> costly{true};
    op_counters counted;
  };
  const auto on = std::make_shared<stage>();
  iterator_context context;
  context.find_function = [on](const function_reference&) -> named_function {
    return [on](const block& rows) -> result<block> {
      // The time of a call is divided as if `calls` of them ran at a time, each on its own core.
      if (on->costly)
        on->time.pass_while_the_reader_waits(24ms / std::max<int64_t>(1, on->counted.calls));
      return rows;
    };
  };
  context.counters = [on, map](const dataset_node& node) {
    return &node == map.get() ? &on->counted : nullptr;
  };
  const auto ran = std::make_shared<detail::engine>(context, options_of(*graph), on->time);
  const auto rows = ran->make(graph, {}).value();
  uint64_t most = 0;
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(rows->next({.rows = 1})->rows, 1u);
    most = std::max(most, on->counted.calls.load());
    if (i == 0) {
      EXPECT_EQ(most, 1u); // the tuner begins with one call
    }
  }
  EXPECT_EQ(most, 4u);
  EXPECT_EQ(on->counted.calls, 4u);
  on->costly = false;
  on->time.end();
  for (int i = 0; i < 400; ++i) {
    ASSERT_EQ(rows->next({.rows = 1})->rows, 1u);
    on->time.pass(1ms); // the reader is slow
  }
  EXPECT_EQ(on->counted.calls, 1u);
}

} // namespace
} // namespace headrace::detail
