#include "headrace/client/headrace.hpp"
#include "headrace/client/internal/verdict.hpp"
#include "headrace/client/server.hpp"
#include "headrace/client/service_status.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/relay.hpp"

#include <atomic>
#include <condition_variable>
#include <fcntl.h>
#include <filesystem>
#include <gmock/gmock.h>
#include <mutex>
#include <sys/stat.h>
#include <thread>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

/// Pauses the threads of a test. `end` ends the pauses of all threads; later calls do not pause.
class pauses {
public:
  void operator()(duration length) {
    std::unique_lock lock{mutex_};
    changed_.wait_for(lock, length, [&] { return over_; });
  }
  bool over() {
    std::lock_guard lock{mutex_};
    return over_;
  }
  void end() {
    std::lock_guard lock{mutex_};
    over_ = true;
    changed_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
};

/// A service of which one part is slow, and a trainer.
class SlowParts : public testing::Test {
protected:
  ~SlowParts() override {
    pause.end();
    trainer.reset();
  }

  /// The options of a worker whose function `work` takes the duration `work` for each block.
  worker_server_options worker_that_takes(duration work) {
    return {.dispatcher = dispatcher.target(),
            .find_function = [this, work](const function_reference&) -> named_function {
              return [this, work](const block& rows) -> result<block> {
                pause(work);
                return rows;
              };
            }};
  }
  void start(worker_server_options about) {
    workers.push_back(std::make_unique<worker_server>(std::move(about)));
    ASSERT_TRUE(await_service_workers(dispatcher.target(), workers.size(), test::patience).ok());
  }
  /// The options of a worker with a function `work`. Each call takes the duration that the variable
  /// `work` has at that time.
  worker_server_options worker_that_may_take(const std::atomic<duration>& work) {
    return {.dispatcher = dispatcher.target(),
            .find_function = [this, &work](const function_reference&) -> named_function {
              return [this, &work](const block& rows) -> result<block> {
                if (const auto now = work.load(); now > duration::zero())
                  pause(now);
                return rows;
              };
            }};
  }
  static dataset work(const dataset& on, int64_t calls = 0) {
    return on.map(named_call{.name = "work", .gives = on.spec()}, {.calls = calls});
  }
  /// Reads `what` in a thread, with a pause after each element.
  void train(const dataset& what, duration step = {}, sharding_policy mode = sharding_policy::off) {
    auto it = what
                .apply(distribute{{.processing_mode = mode,
                                   .service = dispatcher.target(),
                                   .job_name = "train",
                                   .compression = compression::none}})
                .iterate();
    trainer.emplace([this, step, it = std::move(it)]() mutable {
      while (it.next().ok() && !pause.over())
        if (step > duration::zero())
          pause(step);
    });
  }
  /// The first verdict with the cause `cause`, or the last verdict if none had this cause in time.
  verdict blamed(slow_part cause) {
    verdict out;
    const auto until = clock::system().now() + test::patience;
    while (clock::system().now() < until) {
      const auto now = get_service_status(dispatcher.target(), test::patience);
      if (now && !now->jobs.empty())
        if (out = verdict_of(now->jobs[0], *now); out.cause == cause)
          return out;
      pause(100ms);
    }
    return out;
  }

  pauses pause;
  dispatcher_server dispatcher;
  std::vector<std::unique_ptr<worker_server>> workers;
  std::optional<std::jthread> trainer;
};

dataset endless() { return dataset::range(1'000'000'000); }

TEST_F(SlowParts, AnOperatorThatComputes) {
  start(worker_that_takes(20ms));
  train(work(endless().batch(2)));
  const auto x = blamed(slow_part::op);
  EXPECT_THAT(x.text, HasSubstr("map('work')")) << x.text;
  EXPECT_GT(x.wanted, 1u);
}

TEST_F(SlowParts, AnOperatorThatBecomesSlowInAJobThatRanWell) {
  std::atomic<duration> takes{duration::zero()};
  start(worker_that_may_take(takes));
  // The rows are large, so that few are on their way, and the trainer soon feels a slower worker.
  train(work(endless().map([](expr x) { return fill({100'000}, x); })), 10ms);
  EXPECT_EQ(blamed(slow_part::trainers).cause, slow_part::trainers);
  takes = 100ms;
  EXPECT_EQ(blamed(slow_part::op).what, "map('work')");
  takes = duration::zero();
  EXPECT_EQ(blamed(slow_part::trainers).cause, slow_part::trainers) << "it is fast again";
  pause.end();
  trainer.reset();
  workers.clear(); // the workers use `takes`
}

TEST_F(SlowParts, OneWorker) {
  start(worker_that_takes(5ms));
  start(worker_that_takes(5ms));
  start(worker_that_takes(200ms));
  train(work(endless().batch(2)), {}, sharding_policy::dynamic);
  EXPECT_EQ(blamed(slow_part::worker).what, workers[2]->address());
}

TEST_F(SlowParts, TheConnections) {
  auto about = worker_that_takes({});
  test::relay link;
  link.delay(100ms);
  about.endpoint.advertise_data = "127.0.0.1:" + std::to_string(link.port());
  start(about);
  link.forward_to(workers[0]->data_port());
  train(endless().map([](expr x) { return fill({100'000}, x); }));
  EXPECT_EQ(blamed(slow_part::link).cause, slow_part::link);
  pause.end();
  trainer.reset();
}

TEST_F(SlowParts, TheTrainers) {
  start(worker_that_takes({}));
  train(endless().batch(2), 20ms);
  EXPECT_EQ(blamed(slow_part::trainers).cause, slow_part::trainers);
}

TEST_F(SlowParts, TheFiles) {
  // A pipe into which a thread writes slowly stands for a slow file.
  const auto path = testing::TempDir() + "headrace_slow_file";
  std::filesystem::remove(path);
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  std::jthread writer{[&] {
    while (!pause.over()) {
      static_cast<void>(::write(file, "a line\n", 7));
      pause(50ms);
    }
    ::close(file);
  }};
  start(worker_that_takes({}));
  train(dataset::text_lines(std::vector{path}));
  const auto x = blamed(slow_part::storage);
  EXPECT_THAT(x.text, HasSubstr("storage: text_lines")) << x.text;
  pause.end();
  writer.join();
  std::filesystem::remove(path);
}

TEST_F(SlowParts, TheMemory) {
  start(worker_that_takes(20ms));
  graph_options little;
  little.memory = 1;
  // The rows are small, so that of all operators only `work` is costly enough to be run ahead.
  train(
    work(endless().map([](expr x) { return fill({1'000}, x); }).batch(1), 8).with_options(little));
  const auto x = blamed(slow_part::memory);
  EXPECT_THAT(x.text, HasSubstr("memory: map('work', 8 calls)")) << x.text;
}

} // namespace
} // namespace headrace::detail
