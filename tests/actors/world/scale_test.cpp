#include "tests/actors/world/world.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

// The load of a dispatcher with many members.

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

struct members {
  size_t workers, trainers, jobs;
  size_t all() const { return workers + trainers; }
};

/// A service whose trainers read slowly and for long. Each job has its share of the trainers, and a
/// task on each worker.
class large_service {
public:
  explicit large_service(const members& of) : of_(of), world_(about()) {
    for (size_t i = 0; i < of.workers; ++i) world_.add_worker({.per_block = 20s, .most_rows = 1});
    pass(3s);
    world_.traffic.begin();
    for (size_t i = 0; i < of.trainers; ++i)
      world_.add_trainer({.reads = {.dataset_id = "d",
                                    .job_name = fmt::format("job {}", i % of.jobs),
                                    .parameters = {.mode = sharding_policy::dynamic},
                                    .spec = element_spec{tensor_spec{dtype::int64, shape{}}},
                                    .stream_bytes = 64,
                                    .consumer_bytes = 4096},
                          .pause = 1s});
    pass(10s);
    begun = world_.traffic.kinds();
    world_.traffic.begin();
    pass(seconds * 1s);
    steady = world_.traffic.kinds();
    world_.traffic.begin();
    world_.add_worker({.per_block = 20s, .most_rows = 1});
    pass(1s);
    joined = world_.traffic.kinds();
  }

  static constexpr int seconds = 10;
  using amounts = std::map<std::string, dispatcher_traffic::amount>;
  amounts begun;  ///< the messages in the first 10 s after the trainers start
  amounts steady; ///< the messages in some seconds without changes
  amounts joined; ///< the messages in a second in which a worker joins

  static dispatcher_traffic::amount sum(const amounts& of) {
    dispatcher_traffic::amount out;
    for (const auto& [kind, x] : of) out += x;
    return out;
  }
  void print() const {
    fmt::print("{} workers, {} trainers, {} jobs; {} events\n", of_.workers, of_.trainers, of_.jobs,
               world_.time.events());
    const auto table = [&](const char* when, const amounts& of, double over) {
      fmt::print("  {}\n", when);
      for (const auto& [kind, x] : of)
        fmt::print("    {:20} {:12.1f} messages {:14.0f} bytes\n", kind,
                   static_cast<double>(x.messages) / over, static_cast<double>(x.bytes) / over);
    };
    table("all trainers come, in all:", begun, 1);
    table("nothing happens, a second:", steady, seconds);
    table("a worker comes, in all:", joined, 1);
  }

private:
  world::options about() const {
    world::options out;
    out.data = {.splits = uint64_t{1} << 40, .rows = 1};
    return out;
  }
  void pass(duration by) { world_.time.run_until(world_.time.now() + by); }

  members of_;
  world world_;
};

/// The environment variable HEADRACE_SCALE is the number of workers, and of trainers, of the larger
/// of the two services that are compared; the smaller one has a quarter of them. The number of jobs
/// in both services is a tenth of HEADRACE_SCALE.
class Scale : public testing::Test {
protected:
  static size_t most() {
    const char* given = std::getenv("HEADRACE_SCALE");
    return given != nullptr ? std::strtoul(given, nullptr, 0) : 40;
  }
  static double messages(const dispatcher_traffic::amount& of, size_t members) {
    return static_cast<double>(of.messages) / static_cast<double>(members);
  }
  static double bytes(const dispatcher_traffic::amount& of, size_t members) {
    return static_cast<double>(of.bytes) / static_cast<double>(members);
  }
};

TEST_F(Scale, WhatADispatcherDoesForAMemberDoesNotGrowWithTheirNumber) {
  const auto jobs = std::max<size_t>(most() / 10, 1);
  const members small{most() / 4, most() / 4, jobs}, large{most(), most(), jobs};
  const large_service few{small}, many{large};
  few.print();
  many.print();
  // Messages about splits are left out: their number depends on the rows that are read, and not on
  // the number of members.
  const auto membership = [](large_service::amounts of) {
    for (const auto* kind : {"lease splits", "answers: splits"}) of.erase(kind);
    return large_service::sum(of);
  };
  const auto steady_few = membership(few.steady), steady_many = membership(many.steady);
  EXPECT_LE(messages(steady_many, large.all()), 1.1 * messages(steady_few, small.all()));
  EXPECT_LE(bytes(steady_many, large.all()), 1.1 * bytes(steady_few, small.all()));
  const auto joined_few = membership(few.joined), joined_many = membership(many.joined);
  EXPECT_LE(messages(joined_many, large.all()), 1.1 * messages(joined_few, small.all()));
  EXPECT_LE(bytes(joined_many, large.all()), 1.1 * bytes(joined_few, small.all()));
  // Each task is sent a start order and its readers, and each reader the address of each task. None
  // of these is sent repeatedly.
  const auto announced = many.begun.at("announcements");
  EXPECT_LE(static_cast<double>(announced.messages), 12.0 * static_cast<double>(large.trainers));
  EXPECT_LE(bytes(announced, large.trainers * large.workers), 200.0) << "for each task";
}

} // namespace
} // namespace headrace::detail::test
