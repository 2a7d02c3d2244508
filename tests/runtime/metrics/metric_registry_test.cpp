#include "headrace/runtime/metrics/metric_registry.hpp"

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/metrics/metric_codec.hpp"

#include <capnp/message.h>
#include <gmock/gmock.h>
#include <thread>
#include <vector>

namespace headrace::detail::test {
namespace {

constexpr counter_info bites{{"test_bites", "", "How often something bit."}};
constexpr gauge_info depth{{"test_depth_meters", "meters", "How deep it is."}};
constexpr std::array<double, 2> sizes{1, 10};
constexpr histogram_info catches{{"test_catches_bytes", "bytes", "How much was caught."}, sizes};

TEST(Metrics, GiveWhatWasCountedByNameAndLabels) {
  metric_registry all;
  all.get(bites, {{"fish", "pike"}}).add(3);
  all.get(bites, {{"fish", "carp"}}).add();
  all.get(depth).set(2.5);
  for (double x : {0.5, 1.0, 2.0, 100.0}) all.get(catches).observe(x);
  const std::vector<metric_sample> expected{
    {"test_bites", {{"fish", "carp"}}, uint64_t{1}},
    {"test_bites", {{"fish", "pike"}}, uint64_t{3}},
    {"test_catches_bytes", {}, histogram_counts{{1, 10}, {2, 1, 1}, 103.5}},
    {"test_depth_meters", {}, 2.5}};
  EXPECT_EQ(all.read(), expected);
  EXPECT_EQ(all.count(bites, {{"fish", "pike"}}), 3u);
  EXPECT_EQ(all.count(bites), 0u);
}

TEST(Metrics, AreOneForOneDefinitionAndItsLabels) {
  metric_registry all;
  auto& one = all.get(bites);
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) all.get(bites).add();
    });
  threads.clear();
  EXPECT_EQ(one.value(), 4000u);
  EXPECT_EQ(all.read().size(), 1u);
}

TEST(Metrics, AreReadWhileThreadsCount) {
  metric_registry all;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 1000; ++k) {
        all.get(depth).set(k);
        all.get(catches).observe(k % 20);
      }
    });
  for (int k = 0; k < 100; ++k) EXPECT_LE(all.read().size(), 2u);
  threads.clear();
  EXPECT_EQ(all.get(catches).value().total(), 3000u);
  EXPECT_EQ(all.get(depth).value(), 999);
}

TEST(Metrics, RefuseANameOfAnotherKind) {
  static constexpr gauge_info also{{"test_bites", "", "Not a counter."}};
  metric_registry all;
  all.get(bites);
  EXPECT_THROW(all.get(also), error);
}

TEST(Metrics, LeaveOutWhatNothingWasAddedToWhereThatIsAskedFor) {
  metric_registry all;
  all.get(bites);
  all.get(depth);
  all.get(catches);
  ASSERT_EQ(all.read_counted().size(), 1u) << "a gauge of zero says something";
  EXPECT_EQ(all.read_counted()[0].name, depth.name);
}

TEST(Metrics, SayWhatTheyAre) {
  metric_registry all;
  all.get(depth);
  all.get(bites, {{"fish", "pike"}});
  all.get(bites, {{"fish", "carp"}});
  const auto families = all.families();
  ASSERT_EQ(families.size(), 2u);
  EXPECT_EQ(families[0].first.help, bites.help);
  EXPECT_EQ(families[0].second, "counter");
  EXPECT_EQ(families[1].first.unit, "meters");
}

TEST(Metrics, AreReadAsTheyWereWritten) {
  metric_registry all;
  all.get(bites, {{"fish", "pike"}, {"pond", "2"}}).add(uint64_t{1} << 60);
  all.get(bites, {{"fish", std::string{"p\0ke", 4}}, {"pond", "2"}}).add(1);
  all.get(depth).set(-0.125);
  all.get(catches).observe(3);
  const auto samples = all.read();
  capnp::MallocMessageBuilder message;
  auto list = message.initRoot<capnp::AnyPointer>().initAs<capnp::List<schema::Metric>>(
    static_cast<unsigned>(samples.size()));
  write_metrics(list, samples);
  EXPECT_EQ(read_metrics(list.asReader()), samples);
}

TEST(Metrics, ThatContradictThemselvesAreLeftOut) {
  capnp::MallocMessageBuilder message;
  auto list = message.initRoot<capnp::AnyPointer>().initAs<capnp::List<schema::Metric>>(2);
  list[0].setName("test_odd");
  list[0].initHistogram().initCounts(3);
  list[1].setName("test_even");
  list[1].setCounter(2);
  const auto read = read_metrics(list.asReader());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].name, "test_even");
}

} // namespace
} // namespace headrace::detail::test
