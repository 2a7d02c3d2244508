#include "headrace/pipeline/makers/auto_shard.hpp"

#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>

namespace headrace::detail {
namespace {

using test::range;
using test::read_all;
using test::traced;
using testing::HasSubstr;

class AutoShard : public testing::Test {
protected:
  using enum sharding_policy;
  using rows = std::vector<std::string>;

  static result<int64_t> count_rows(const dataset_ptr& names, int64_t most) {
    return static_cast<int64_t>(read_all(names, test::always(1), static_cast<size_t>(most)).size());
  }

  /// The rows that each of `n` workers gives, or the error if the graph cannot be divided.
  static std::vector<rows> shares(const dataset_ptr& graph, sharding_policy policy, int64_t n) {
    std::vector<rows> out;
    for (int64_t i = 0; i < n; ++i) {
      const auto own = auto_shard(graph, policy, {n, i}, count_rows);
      out.push_back(own ? read_all(*own) : rows{own.status().message()});
    }
    return out;
  }

  /// Writes `n` files and returns their names. File i has two lines: the digits of i followed by a
  /// 0, and the same digits followed by a 1. In JSON the digits are those of i + 1, because numbers
  /// in JSON have no leading zeros.
  std::vector<std::string> files(int64_t n, const std::string& kind = "txt") const {
    std::vector<std::string> out;
    for (int64_t i = 0; i < n; ++i) {
      const auto text = kind == "json" ? fmt::format("{{\"x\": {0}0}}\n{{\"x\": {0}1}}\n", i + 1)
                                       : fmt::format("{0}0\n{0}1\n", i);
      out.push_back(folder.write(fmt::format("{}.{}", i, kind), text));
    }
    return out;
  }
  std::vector<std::string> records(int64_t n) const {
    std::vector<std::string> out;
    for (int64_t i = 0; i < n; ++i) {
      out.push_back(fmt::format("{}/{}.tfrecord", folder.path(), i));
      auto to = tfrecord_writer::open(out.back(), {}).value();
      for (int64_t k = 0; k < 2; ++k) EXPECT_EQ(to.write(fmt::format("{}{}", i, k)), status{});
      EXPECT_EQ(to.finish(), status{});
    }
    return out;
  }
  /// The names of every n-th file, from file i on.
  static std::vector<std::string> every(const std::vector<std::string>& all, int64_t n, int64_t i) {
    std::vector<std::string> out;
    for (auto k = static_cast<size_t>(i); k < all.size(); k += static_cast<size_t>(n))
      out.push_back(all[k]);
    return out;
  }
  static dataset_ptr lines(const std::vector<std::string>& names) {
    return make_text_lines(string_constant(names)).value();
  }
  static dataset_ptr slices(const std::vector<std::string>& names) {
    return make_from_tensor_slices({string_constant(names)}).value();
  }
  static function_ptr read_lines(const dataset_ptr& names) {
    return traced(names, [](expr name) { return traced_lines(name); });
  }
  static dataset_ptr interleaved(const dataset_ptr& names) {
    return make_interleave(names, read_lines(names), 2).value();
  }
  static dataset_ptr mapped(const dataset_ptr& names) {
    return make_flat_map(names, read_lines(names)).value();
  }
  static dataset_ptr traced_lines(const expr& name) { return make_text_lines(name.node()).value(); }
  dataset_ptr listed(bool shuffle = false) const {
    const std::string pattern = folder.path() + "/*.txt";
    return make_list_files(string_constant({&pattern, 1}), shuffle, 7).value();
  }

  test::scratch_folder folder;
};

// -- many graphs, divided by each policy ----------------------------------------------------------

TEST_F(AutoShard, GivesWhatALocalRunGivesThatIsShardedByHand) {
  const auto txt = files(5);
  const auto csv = files(5, "csv");
  const auto json = files(5, "json");
  const auto tfrecord = records(5);
  const std::vector<field_format> x{field("x", dtype::int64)};
  const auto read = [&](const std::string& kind, const std::vector<std::string>& names) {
    auto list = string_constant(names);
    return kind == "tfrecord" ? make_tfrecord(list)
           : kind == "csv"    ? make_csv(list, x)
           : kind == "json"   ? make_json_lines(list, x)
           : kind == "fixed"  ? make_fixed_length(list, {.record_bytes = 3})
                              : make_text_lines(list);
  };
  /// A graph, and the function that returns the part of worker i of n if the graph is divided by
  /// files. The function is null if the graph cannot be divided by files: it reads none or too few,
  /// or zips them with another source.
  struct row {
    std::string name;
    dataset_ptr graph;
    std::function<dataset_ptr(int64_t, int64_t)> by_file;
  };
  const auto none = std::function<dataset_ptr(int64_t, int64_t)>{};
  const auto of = [](dataset_ptr in, int64_t n, int64_t i) { return make_shard(in, n, i).value(); };
  std::vector<row> table{
    {"range", range(0, 10), none},
    {"empty", range(0, 0), none},
    {"from_tensors", make_from_tensors({scalar_constant(7)}).value(), none},
    {"slices", slices({"a", "b", "c"}), none},
    {"names that nobody reads", slices(txt), none},
    {"files", lines(txt), [&](auto n, auto i) { return lines(every(txt, n, i)); }},
    {"too few files", lines({txt[0]}), none},
    {"list_files", listed(), [&](auto n, auto i) { return of(listed(), n, i); }},
    {"interleave of names", interleaved(slices(txt)),
     [&](auto n, auto i) { return interleaved(slices(every(txt, n, i))); }},
    {"interleave of too few", interleaved(slices({txt[0]})), none},
    {"interleave of a list", interleaved(listed()),
     [&](auto n, auto i) { return interleaved(of(listed(), n, i)); }},
    {"flat_map of names", mapped(slices(txt)),
     [&](auto n, auto i) { return mapped(slices(every(txt, n, i))); }},
    {"shuffled names", interleaved(make_shuffle(slices(txt), 10, 3).value()),
     [&](auto n, auto i) {
       return interleaved(make_shuffle(of(slices(txt), n, i), 10, 3).value());
     }},
    {"repeated names", interleaved(make_repeat(slices(txt), 2).value()),
     [&](auto n, auto i) { return interleaved(make_repeat(slices(every(txt, n, i)), 2).value()); }},
    {"names, taken", interleaved(make_take(slices(txt), 4).value()),
     [&](auto n, auto i) { return interleaved(of(make_take(slices(txt), 4).value(), n, i)); }},
    {"zip of files", make_zip({lines(txt), lines(txt)}).value(),
     [&](auto n, auto i) {
       return make_zip({lines(every(txt, n, i)), lines(every(txt, n, i))}).value();
     }},
    {"zip with a range", make_zip({lines(txt), range(0, 5)}).value(), none},
    {"concatenate of files", make_concatenate(lines(txt), lines(txt)).value(),
     [&](auto n, auto i) {
       return make_concatenate(lines(every(txt, n, i)), lines(every(txt, n, i))).value();
     }},
    {"batch", make_batch(lines(txt), 3).value(),
     [&](auto n, auto i) { return make_batch(lines(every(txt, n, i)), 3).value(); }},
    {"repeat", make_repeat(lines(txt), 2).value(),
     [&](auto n, auto i) { return make_repeat(lines(every(txt, n, i)), 2).value(); }},
    {"prefetch at the end", make_prefetch(lines(txt), 2).value(),
     [&](auto n, auto i) { return lines(every(txt, n, i)); }},
    {"shuffled rows", make_shuffle(lines(txt), 4, 1).value(),
     [&](auto n, auto i) { return make_shuffle(lines(every(txt, n, i)), 4, 1).value(); }},
  };
  for (const auto& [kind, names] :
       {std::pair{"tfrecord", tfrecord}, {"csv", csv}, {"json", json}, {"fixed", txt}})
    table.push_back(
      {kind, read(kind, names).value(), [&, kind = kind, names = names](auto n, auto i) {
         return read(kind, every(names, n, i)).value();
       }});
  for (const auto& [name, graph, by_file] : table)
    for (int64_t n : {2, 3}) {
      SCOPED_TRACE(fmt::format("{} on {} workers", name, n));
      const auto data = shares(graph, sharding_policy::data, n);
      const auto own = shares(graph, file, n);
      const auto either = shares(graph, file_or_data, n);
      for (int64_t i = 0; i < n; ++i) {
        const auto at = static_cast<size_t>(i);
        const auto by_data = read_all(of(graph, n, i));
        EXPECT_EQ(data[at], by_data);
        if (by_file) {
          EXPECT_EQ(own[at], read_all(by_file(n, i)));
          EXPECT_EQ(either[at], own[at]);
        } else {
          ASSERT_EQ(own[at].size(), 1u);
          EXPECT_THAT(own[at][0], HasSubstr("processing mode file: "));
          EXPECT_EQ(either[at], by_data);
        }
      }
    }
}

TEST_F(AutoShard, LeavesNothingOutAndGivesNothingTwice) {
  const auto txt = files(7);
  const auto all = read_all(lines(txt));
  for (const auto& graph :
       {lines(txt), interleaved(slices(txt)), interleaved(listed(true)),
        interleaved(make_shuffle(slices(txt), 3).value()), make_shuffle(lines(txt), 5).value()})
    for (auto policy : {file, sharding_policy::data, file_or_data})
      for (int64_t n : {1, 2, 7}) {
        rows together;
        for (const auto& one : shares(graph, policy, n))
          together.insert(together.end(), one.begin(), one.end());
        EXPECT_THAT(together, testing::UnorderedElementsAreArray(all));
      }
}

TEST_F(AutoShard, SaysWhyAGraphHasNoShardsByFile) {
  const auto txt = files(2);
  const auto why = [](const dataset_ptr& graph, int64_t n = 3) {
    return auto_shard(graph, file, {n, 0}, count_rows).status().message();
  };
  EXPECT_EQ(why(range(0, 9)),
            "processing mode file: range is no source over files; use DATA or FILE_OR_DATA, or, if "
            "it gives names of files, read them in an interleave or flat_map");
  EXPECT_EQ(why(lines(txt)),
            "processing mode file: there are 2 files for 3 workers; each needs one "
            "at least, or use DATA or FILE_OR_DATA");
  EXPECT_THAT(why(interleaved(listed())), HasSubstr("there are 2 files for 3 workers"));
  // Where the number of files cannot be determined, it is taken to be sufficient.
  EXPECT_TRUE(auto_shard(interleaved(listed()), file, {3, 0}));
}

TEST_F(AutoShard, GivesEachWorkerTheSameFilesInEachPass) {
  files(6);
  const auto own =
    auto_shard(interleaved(make_repeat(listed(true), 2).value()), file, {2, 1}, count_rows).value();
  const auto twice = read_all(own);
  rows want;
  for (const auto* line : {"10", "11", "30", "31", "50", "51"})
    for (int pass = 0; pass < 2; ++pass) want.push_back(fmt::format("'{}'", line));
  EXPECT_THAT(twice, testing::UnorderedElementsAreArray(want));
}

TEST_F(AutoShard, PutsWhatIsDividedInOrder) {
  const auto numbers = range(0, 6);
  const auto mixed =
    make_options(make_map(numbers, traced(numbers, [](expr x) { return x; }), 4).value(),
                 {.deterministic = false})
      .value();
  const auto own = auto_shard(mixed, sharding_policy::data, {2, 0}).value();
  ASSERT_EQ(own->op, dataset_op::options) << "the options stay at the end";
  ASSERT_EQ(own->inputs[0]->op, dataset_op::shard);
  EXPECT_EQ(own->inputs[0]->inputs[0]->calls.deterministic, true);
}

TEST_F(AutoShard, KeepsPrefetchAtTheEnd) {
  const auto own =
    auto_shard(make_prefetch(range(0, 6), 2).value(), sharding_policy::data, {2, 0}).value();
  EXPECT_EQ(own->op, dataset_op::prefetch);
  EXPECT_EQ(own->inputs[0]->op, dataset_op::shard);
}

TEST_F(AutoShard, DividesDataAboveWhatMeasuresRows) {
  const auto own =
    auto_shard(make_stats(range(0, 6), "tag", true).value(), sharding_policy::data, {2, 0}).value();
  EXPECT_EQ(own->op, dataset_op::shard);
  EXPECT_EQ(own->inputs[0]->op, dataset_op::stats);
}

TEST_F(AutoShard, DividesNotWhatAnotherJobGives) {
  const auto served = make_distribute(range(0, 9), {.address = "host:1"}).value();
  EXPECT_THAT(auto_shard(served, file_or_data, {2, 0}).status().message(),
              HasSubstr("reads from another job with distribute"));
}

TEST_F(AutoShard, LeavesOffAndDynamicAlone) {
  const auto graph = range(0, 9);
  EXPECT_EQ(auto_shard(graph, off, {}).value(), graph);
  EXPECT_EQ(auto_shard(graph, dynamic, {}).value(), graph);
}

// -- hints --------------------------------------------------------------------------------------

TEST_F(AutoShard, FillsInHints) {
  const auto hinted = make_batch(make_shard(range(0, 10), shard_hint, 0).value(), 2).value();
  EXPECT_THAT(shares(hinted, hint, 3),
              testing::ElementsAre(rows{"[2]{0 3}", "[2]{6 9}"}, rows{"[2]{1 4}", "[1]{7}"},
                                   rows{"[2]{2 5}", "[1]{8}"}));
}

TEST_F(AutoShard, FillsInHintsInFunctions) {
  const auto outer = range(0, 2);
  const auto inner =
    make_flat_map(
      outer, traced(outer, [](expr) { return make_shard(range(0, 4), shard_hint, 0).value(); }))
      .value();
  EXPECT_THAT(shares(inner, hint, 2),
              testing::ElementsAre(rows{"0", "2", "0", "2"}, rows{"1", "3", "1", "3"}));
}

TEST_F(AutoShard, WantsHintsUnderHintAndNowhereElse) {
  const auto hinted = make_shard(range(0, 10), shard_hint, 0).value();
  for (auto policy : {off, dynamic, file, sharding_policy::data, file_or_data})
    EXPECT_THAT(auto_shard(hinted, policy, {2, 0}).status().message(),
                HasSubstr("has a shard(SHARD_HINT, ...), which only HINT fills in"));
  EXPECT_THAT(auto_shard(range(0, 10), hint, {2, 0}).status().message(),
              HasSubstr("has no shard(SHARD_HINT, ...)"));
  EXPECT_THAT(make_iterator(hinted, {}).status().message(), HasSubstr("SHARD_HINT"));
}

TEST_F(AutoShard, SendsHints) {
  const auto hinted = make_shard(range(0, 10), shard_hint, 0).value();
  const auto back = decode_graph(encode_graph(hinted).value()).value();
  EXPECT_EQ(back->as<shard_parameters>().shards, shard_hint);
  EXPECT_EQ(back->cardinality, unknown_cardinality);
}

TEST_F(AutoShard, KeepsRunsOfElementsTogetherWhereElementsAreDivided) {
  const auto of = [](int64_t i) {
    return read_all(auto_shard(range(0, 8), data, {2, i, 2}).value());
  };
  EXPECT_EQ(of(0), (rows{"0", "1", "4", "5"}));
  EXPECT_EQ(of(1), (rows{"2", "3", "6", "7"}));
}

} // namespace
} // namespace headrace::detail
