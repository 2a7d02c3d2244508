#include "headrace/pipeline/explain/statistics.hpp"

#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::traced;
using testing::ElementsAre;
using testing::Pair;

/// The statistics of a graph that is read `rows` rows at a time.
std::map<std::string, measured_values> measured(const dataset_ptr& graph, size_t rows,
                                                statistics_options options = {}) {
  const auto to = std::make_shared<statistics>();
  iterator_context context;
  context.counters = measured_by(to, graph, std::move(options));
  const auto from = make_iterator(graph, context).value();
  read_all(*from, always(rows));
  return to->summary();
}

std::vector<std::string> tags(const std::map<std::string, measured_values>& all) {
  std::vector<std::string> out;
  for (const auto& [tag, _] : all) out.push_back(tag);
  return out;
}

TEST(Statistics, HaveTheBytesOfEachElement) {
  // The strings "", "0", "01" and so on, each with an int64.
  const auto in = range(0, 5);
  const auto sized = make_map(in, traced(in,
                                         [](expr n) {
                                           return std::pair{strings::substr("01234", 0, n), n};
                                         }))
                       .value();
  const auto graph = make_stats(sized, "size", true).value();
  for (const size_t rows : {1, 2, 100}) {
    const auto all = measured(decode_graph(encode_graph(graph).value()).value(), rows);
    ASSERT_THAT(tags(all), ElementsAre("size"));
    const auto& size = all.at("size");
    EXPECT_EQ(size.count, 5u);
    EXPECT_EQ(size.sum, 8. + 9 + 10 + 11 + 12);
    EXPECT_EQ(size.sum_of_squares, 64. + 81 + 100 + 121 + 144);
    EXPECT_EQ(size.least, 8);
    EXPECT_EQ(size.most, 12);
  }
}

TEST(Statistics, LeaveOutTheBytesOfWhatFailed) {
  const auto in = range(-2, 3);
  const auto graph =
    make_stats(make_map(in, traced(in, [](expr x) { return 6 / x; })).value(), "size", true);
  for (const size_t rows : {1, 100}) {
    const auto all = measured(graph.value(), rows);
    EXPECT_EQ(all.at("size").count, 4u);
    EXPECT_THAT(all.at("size").buckets, ElementsAre(Pair(8., 4u)));
  }
}

TEST(Statistics, HaveTheLatencyOfEachElement) {
  const auto graph =
    make_stats(make_batch(make_sleep(range(0, 6), 300).value(), 2).value(), "latency", false);
  for (const size_t rows : {1, 100}) {
    const auto latency = measured(graph.value(), rows).at("latency");
    EXPECT_EQ(latency.count, 3u);
    EXPECT_GE(latency.sum, 1800); // microseconds
  }
}

TEST(Statistics, AreOfDatasetsInFunctionsToo) {
  const auto in = range(0, 4);
  const auto inner = traced(in, [](expr n) {
    return make_stats(make_take(range(0, 9), n.node()).value(), "inner", true).value();
  });
  for (const int64_t parallel : {0, 2})
    EXPECT_EQ(measured(make_interleave(in, inner, 2, 1, parallel).value(), 3).at("inner").count,
              6u);
}

TEST(Statistics, OfAllOperatorsHaveTheirNamesAndNumbers) {
  const auto graph = make_batch(make_stats(range(0, 4), "x", true).value(), 2).value();
  const auto all = measured(graph, 10, {.prefix = "train", .all_operators = true});
  EXPECT_THAT(tags(all), ElementsAre("train::record_latency_batch/_0",
                                     "train::record_latency_range/_2", "train::x"));
  EXPECT_EQ(all.at("train::record_latency_batch/_0").count, 2u);
  EXPECT_EQ(all.at("train::record_latency_range/_2").count, 4u);
}

TEST(Statistics, AreSumsOverIterationsOnSeveralThreads) {
  const auto graph = make_stats(range(0, 1000), "size", true).value();
  const auto to = std::make_shared<statistics>();
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        iterator_context context;
        context.counters = measured_by(to, graph);
        read_all(*make_iterator(graph, context).value(), always(7));
        to->summary();
      });
  }
  EXPECT_EQ(to->summary().at("size").count, 4000u);
}

TEST(Statistics, AreNotTakenWhereNobodyAsks) {
  const auto graph = make_stats(range(0, 4), "x", false).value();
  EXPECT_THAT(read_all(graph), ElementsAre("0", "1", "2", "3"));
}

TEST(MeasuredValues, BucketsGrowByAQuarterOfAPowerOfTwo) {
  measured_values x;
  for (const double value : {0., 1., 1.1, 2., 4., -3.}) x.add(value);
  x.add(1000, 7);
  EXPECT_EQ(x.count, 13u);
  EXPECT_THAT(x.buckets, ElementsAre(Pair(0., 2u), Pair(1., 1u), Pair(std::exp2(0.25), 1u),
                                     Pair(2., 1u), Pair(4., 1u), Pair(1024., 7u)));
}

} // namespace
} // namespace headrace::detail
