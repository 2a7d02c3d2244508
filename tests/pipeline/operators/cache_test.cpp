#include "headrace/pipeline/graph/split_plan.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/saving/kept_folders.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

namespace headrace::detail {
namespace {

using test::always;
using test::range;
using test::read_all;
using test::read_numbers;
using test::traced;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

/// Graphs over numbers; a function of this process counts how many of the numbers were made.
class Cache : public testing::Test {
protected:
  dataset_ptr counted(int64_t n) {
    auto body = std::make_shared<function>();
    body->argument = element_spec{tensor_spec{dtype::int64, {}}};
    body->declared = body->argument;
    body->named = {"count"};
    return make_map(range(0, n), body).value();
  }
  std::unique_ptr<iterator> open(const dataset_ptr& graph) {
    context.find_function = [this](const function_reference&) -> named_function {
      return [this](const block& rows) -> result<block> {
        made += rows.rows;
        return rows;
      };
    };
    return make_iterator(graph, context).value();
  }
  std::vector<std::string> read(const dataset_ptr& graph, size_t rows = 100000,
                                size_t most = 1000) {
    auto from = open(graph);
    return read_all(*from, always(most), rows);
  }

  iterator_context context;
  size_t made = 0;
  test::scratch_folder folder;
};

TEST_F(Cache, LaterIterationsMakeNoElements) {
  for (const auto& graph :
       {make_cache(counted(5000)).value(), make_cache(counted(5000), folder.path() + "/c").value(),
        make_snapshot(counted(5000), folder.path() + "/s").value()}) {
    made = 0;
    const auto first = read(graph, 100000, 7);
    EXPECT_EQ(first.size(), 5000u);
    EXPECT_EQ(made, 5000u);
    EXPECT_EQ(read(graph), first);
    EXPECT_EQ(read(graph, 100000, 1), first);
    EXPECT_EQ(made, 5000u);
  }
}

TEST_F(Cache, IterationsOnSeveralThreadsKeepThePassOfOne) {
  const auto graph = make_cache(make_shuffle(range(0, 5000), 100).value()).value();
  std::vector<std::vector<std::string>> got(4);
  {
    std::vector<std::jthread> threads;
    for (auto& to : got) threads.emplace_back([&] { to = read_all(graph, always(7)); });
  }
  const auto kept = read_all(graph);
  EXPECT_EQ(kept.size(), 5000u);
  EXPECT_THAT(got, Contains(kept));
}

TEST_F(Cache, RepetitionsGiveTheOrderOfTheFirst) {
  auto shuffled = make_shuffle(range(0, 20), 20).value();
  const auto rows = read_numbers(make_repeat(make_cache(shuffled).value(), 3).value(), always(6));
  ASSERT_EQ(rows.size(), 60u);
  for (size_t i = 0; i < 40; ++i) EXPECT_EQ(rows[i + 20], rows[i]);
}

TEST_F(Cache, AnIterationThatEndsEarlyKeepsNothing) {
  for (const auto& graph :
       {make_cache(counted(100)).value(), make_cache(counted(100), folder.path() + "/c").value()}) {
    made = 0;
    read(graph, 40, 1);
    EXPECT_EQ(made, 40u);
    read(graph);
    EXPECT_EQ(made, 140u);
    read(graph);
    EXPECT_EQ(made, 140u);
  }
}

TEST_F(Cache, ErrorsStayInTheirPlacesAndAreTriedAgain) {
  auto fails = traced(range(0, 5), [](expr x) { return 12 / (x - 2); });
  auto graph = make_cache(make_map(range(0, 5), fails).value(), folder.path() + "/c").value();
  for (int i = 0; i < 3; ++i)
    EXPECT_THAT(read(graph), ElementsAre("-6", "-12", HasSubstr("!invalid_argument"), "12", "6"));
  EXPECT_FALSE(find_saved(folder.path() + "/c").value());
}

TEST_F(Cache, AFolderServesOtherGraphsAndProcesses) {
  const auto graph = make_cache(counted(100), folder.path() + "/c").value();
  const auto first = read(graph);
  auto other = decode_graph(encode_graph(graph).value()).value();
  made = 0;
  EXPECT_EQ(read(other), first);
  EXPECT_EQ(made, 0u);
  EXPECT_THAT(
    read(make_cache(make_enumerate(range(0, 3)).value(), folder.path() + "/c").value()),
    ElementsAre(HasSubstr("holds elements of int64[], expected were (int64[], int64[])")));
}

TEST_F(Cache, SnapshotsOfOtherPipelinesLieApart) {
  const auto path = folder.path() + "/s";
  EXPECT_EQ(read(make_snapshot(counted(3), path).value()).size(), 3u);
  EXPECT_EQ(read(make_snapshot(counted(4), path).value()).size(), 4u);
  made = 0;
  EXPECT_EQ(read(make_snapshot(counted(3), path).value()).size(), 3u);
  EXPECT_EQ(made, 0u);
}

TEST_F(Cache, ASnapshotWritesAFileAShard) {
  const auto in = counted(100);
  const auto graph = make_snapshot(in, folder.path(), saved_compression::gzip,
                                   traced(in, [](expr x) { return x % 3; }))
                       .value();
  EXPECT_EQ(read(graph).size(), 100u);
  const auto again = read(graph);
  EXPECT_EQ(again.size(), 100u);
  EXPECT_EQ(again[1], "3");
  const auto saved = read_saved(folder.path() + "/" + fingerprint(in).value()).value();
  EXPECT_EQ(saved.shards.size(), 3u);
  EXPECT_THAT(read(make_snapshot(in, folder.path() + "/x", saved_compression::none,
                                 traced(in, [](expr x) { return 0 - x; }))
                     .value()),
              ElementsAre(HasSubstr("shard_func gave -")));
}

/// The shards of a snapshot of `in`, read in turn, one element of each at a time.
dataset_ptr in_turn(const dataset_ptr& in, const std::string& path, int64_t parallel = 0) {
  const auto kept = path + "/" + fingerprint(in).value();
  const auto shards = make_saved_shards(kept).value();
  const auto spec = in->spec;
  const auto each = traced(shards, [&](expr n) {
    return make_load(kept, spec, -1, unknown_cardinality, n.node()).value();
  });
  return make_interleave(shards, each, 3, 1, parallel).value();
}
/// A snapshot of numbers with a shard for each remainder modulo 3, whose shards are read in turn.
dataset_ptr snapshot_in_turn(const dataset_ptr& in, const std::string& path, int64_t parallel = 0) {
  return make_snapshot(in, path, saved_compression::snappy,
                       traced(in, [](expr x) { return x % 3; }), in_turn(in, path, parallel))
    .value();
}

TEST_F(Cache, ASnapshotIsReadByItsReaderInEachLaterIteration) {
  const auto in = make_shuffle(counted(9), 9, 1).value();
  for (const int64_t parallel : {0, 3}) {
    const auto graph = snapshot_in_turn(in, folder.path() + std::to_string(parallel), parallel);
    EXPECT_EQ(graph->cardinality, unknown_cardinality);
    made = 0;
    const auto written = read(graph);
    EXPECT_EQ(written.size(), 9u);
    const auto again = read(decode_graph(encode_graph(graph).value()).value());
    EXPECT_NE(again, written);
    EXPECT_THAT(again, testing::UnorderedElementsAreArray(written));
    for (size_t i = 0; i < 9; ++i) EXPECT_EQ(std::stoi(again[i]) % 3, static_cast<int>(i % 3));
    EXPECT_EQ(read(graph, 100, 2), again);
    EXPECT_EQ(made, 9u);
  }
}

TEST_F(Cache, ResumesWhereTheReaderOfASnapshotWas) {
  const auto graph = snapshot_in_turn(range(0, 9), folder.path() + "/s");
  for (const bool whole : {false, true}) {
    EXPECT_EQ(std::filesystem::exists(folder.path() + "/s"), whole);
    auto from = open(graph);
    EXPECT_THAT(read_all(*from, always(1), 4).size(), 4u);
    const auto at = from->save();
    from.reset();
    EXPECT_EQ(read(graph).size(), 9u);
    if (!whole)
      continue; // the position belongs to the pass that writes the snapshot
    auto later = open(graph);
    ASSERT_EQ(later->restore(*at), status{});
    EXPECT_THAT(read_all(*later, always(2)), ElementsAre("4", "5", "6", "7", "8"));
    // A snapshot that is written anew has a new id.
    std::filesystem::remove_all(folder.path() + "/s");
    EXPECT_EQ(read(graph).size(), 9u);
    auto other = open(graph);
    EXPECT_THAT(to_string(other->restore(*at)), HasSubstr("not those of when the position"));
  }
}

TEST_F(Cache, WhatFoldersHoldIsSharedByWorkers) {
  const auto path = folder.path() + "/s";
  for (const auto& graph :
       {make_snapshot(range(0, 9), path + "1").value(), snapshot_in_turn(range(0, 9), path + "2"),
        make_cache(range(0, 9), path + "3").value()}) {
    const auto later = make_take(graph, 5).value();
    EXPECT_EQ(read_kept_folders(later).value(), later);
    EXPECT_EQ(read(graph).size(), 9u);
    const auto shared = read_kept_folders(later).value();
    const auto plan = plan_splits(shared);
    ASSERT_EQ(plan.sources.size(), 1u);
    EXPECT_EQ(plan.sources[0].splits, graph->inputs.size() == 1 ? 1u : 3u); // 1 block or 3 shards
    EXPECT_EQ(read(decode_graph(encode_graph(shared).value()).value()), read(later));
  }
}

TEST_F(Cache, MoreBytesThanAllowedAreAnError) {
  EXPECT_EQ(read(make_cache(counted(100), "", 800).value()).size(), 100u);
  EXPECT_THAT(read(make_cache(counted(101), "", 800).value()).back(),
              HasSubstr("cache: the elements take more than the 800 bytes that most_bytes allows"));
}

TEST_F(Cache, ResumesInItsFirstPassAndInLaterOnes) {
  for (const std::string& path : {std::string{}, folder.path() + "/c"}) {
    auto shuffled = make_shuffle(range(0, 30), 30).value();
    const auto cached = make_cache(shuffled, path).value();
    const auto graph = make_repeat(cached, 2).value();
    context.seed = 3;
    const auto want = read(graph);
    const auto bytes = encode_graph(graph).value();
    for (size_t rows : {1, 29, 30, 31, 59, 60}) {
      context.seed = 4; // the cache has the elements of the earlier seed
      auto from = open(graph);
      EXPECT_EQ(read_all(*from, always(1), rows).size(), rows);
      // A decoded graph has no elements in memory, like the graph in another process.
      const auto fresh = decode_graph(bytes).value();
      auto at = open(fresh);
      ASSERT_EQ(at->restore(*from->save()), status{}) << rows;
      EXPECT_EQ(read_all(*at, always(4)),
                (std::vector<std::string>{want.begin() + static_cast<long>(rows), want.end()}))
        << rows;
    }
  }
}

TEST_F(Cache, ResumesBeforeItIsBegunWithWhatAnEarlierIterationKept) {
  const auto cached = make_cache(make_shuffle(range(0, 30), 30).value()).value();
  const auto graph = make_concatenate(range(50, 60), cached).value();
  context.seed = 3;
  const auto want = read(graph);
  context.seed = 4;
  auto from = open(graph);
  EXPECT_EQ(read_all(*from, always(1), 5).size(), 5u);
  // A decoded graph has no elements in memory, like the graph in another process.
  auto at = open(decode_graph(encode_graph(graph).value()).value());
  ASSERT_EQ(at->restore(*from->save()), status{});
  EXPECT_EQ(read_all(*at, always(4)), (std::vector<std::string>{want.begin() + 5, want.end()}));
}

TEST_F(Cache, IsOfOneWorkerUnderSharedSplitsAndOfNoneInAFolder) {
  test::scripted_splits splits;
  splits.script = {{0, 0, split_range{3, 2}}, {0, 0, {}}};
  context.splits = &splits;
  EXPECT_THAT(read(make_repeat(make_cache(range(0, 10)).value(), 2).value()),
              ElementsAre("3", "4", "3", "4"));
  EXPECT_THAT(
    to_string(make_iterator(make_cache(range(0, 10), folder.path()).value(), context).status()),
    HasSubstr("cannot be written where workers share the elements (dynamic)"));
}

TEST_F(Cache, PassesElementsOnInFunctions) {
  auto in = range(0, 4);
  auto f = traced(in, [](expr x) {
    return make_repeat(
             make_cache(make_range(x.node(), (x + 2).node(), scalar_constant(1)).value()).value(),
             2)
      .value();
  });
  EXPECT_THAT(read_numbers(make_take(make_flat_map(in, f).value(), 7).value()),
              ElementsAre(0, 1, 0, 1, 1, 2, 1));
}

TEST_F(Cache, OfNothingIsNothing) {
  for (const auto& graph :
       {make_cache(range(0, 0)).value(), make_cache(range(0, 0), folder.path() + "/c").value()})
    for (int i = 0; i < 2; ++i) EXPECT_TRUE(read(graph).empty());
}

TEST_F(Cache, WrongArgumentsAreTold) {
  const auto why = [](const result<dataset_ptr>& x) { return to_string(x.status()); };
  EXPECT_THAT(why(make_cache(make_counter().value())), HasSubstr("cache: the input never ends"));
  EXPECT_THAT(why(make_cache(range(0, 1), "", -1)), HasSubstr("cache: most_bytes is -1"));
  EXPECT_THAT(why(make_cache(range(0, 1), "x", 1)),
              HasSubstr("most_bytes is for a cache in memory"));
  EXPECT_THAT(why(make_snapshot(range(0, 1), "")), HasSubstr("snapshot: path is empty"));
  const std::string with_zero{"a\0b", 3};
  EXPECT_THAT(why(make_cache(range(0, 1), with_zero)), HasSubstr("cache: path has a zero byte"));
  EXPECT_THAT(why(make_snapshot(range(0, 1), with_zero)), HasSubstr("path has a zero byte"));
  EXPECT_THAT(why(make_saved_shards(with_zero)), HasSubstr("path has a zero byte"));
  EXPECT_THAT(why(make_snapshot(range(0, 1), "x", saved_compression::none,
                                traced(range(0, 1), [](expr x) { return x == 1; }))),
              HasSubstr("shard_func must give one int64 scalar"));
  EXPECT_THAT(why(make_snapshot(range(0, 1), "x", saved_compression::none, nullptr,
                                make_enumerate(range(0, 1)).value())),
              HasSubstr("reader_func gives (int64[], int64[]), but the elements that are kept are "
                        "int64[]; change them behind the snapshot"));
}

} // namespace
} // namespace headrace::detail
