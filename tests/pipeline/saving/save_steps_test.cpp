#include "headrace/pipeline/saving/save_steps.hpp"

#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"
#include "tests/pipeline/saving/saving.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

namespace headrace::detail {
namespace {

namespace fs = std::filesystem;
using namespace test::saving;
using test::range;
using test::traced;
using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::IsEmpty;

class SaveSteps : public testing::Test {
protected:
  /// Saves the graph, which must be divided, and checks that the loaded elements are those of the
  /// graph.
  void expect_same(const dataset_ptr& graph, bool in_order = true) {
    const auto folder = fresh();
    ASSERT_EQ(save(folder, graph), status{});
    const auto plan = find_save_plan(folder).value().value();
    EXPECT_EQ(plan.whole_because, "");
    auto want = rows_of(graph), got = test::read_all(loaded(folder));
    if (!in_order) {
      want = sorted(std::move(want));
      got = sorted(std::move(got));
    }
    EXPECT_EQ(got, want);
    EXPECT_TRUE(plan.pieces() > 1 || want.size() < 2);
  }
  static std::vector<std::string> rows_of(const dataset_ptr& graph) {
    return test::read_all(graph, test::always(7));
  }
  std::string fresh() { return fmt::format("{}/saved-{}", scratch.path(), folders_++); }

  std::string text(const std::string& name, std::string_view lines) const {
    return scratch.write(name, lines);
  }
  /// Records of 8 bytes: the numbers from `first` on.
  dataset_ptr records(const std::string& name, int64_t first, size_t count) const {
    std::vector<int64_t> xs(count);
    for (auto& x : xs) x = first++;
    const auto file =
      scratch.write(name, {reinterpret_cast<const char*>(xs.data()), xs.size() * sizeof(int64_t)});
    auto bytes = make_fixed_length(names({file}), {sizeof(int64_t), 0, 0}).value();
    return make_map(
             bytes,
             traced(bytes, [](expr x) { return reshape(io::decode_raw(x, dtype::int64), {}); }))
      .value();
  }
  static expr_ptr names(std::vector<std::string> files) { return string_constant(files); }
  static dataset_ptr repeat(const dataset_ptr& in, int64_t n) { return make_repeat(in, n).value(); }
  static dataset_ptr concatenate(const dataset_ptr& a, const dataset_ptr& b) {
    return make_concatenate(a, b).value();
  }
  static dataset_ptr zip(std::vector<dataset_ptr> inputs) {
    return make_zip(std::move(inputs)).value();
  }
  static dataset_ptr batch(const dataset_ptr& in, int64_t n, bool drop = false) {
    return make_batch(in, n, drop).value();
  }
  static dataset_ptr even(const dataset_ptr& in) {
    return make_filter(in, traced(in, [](expr x) { return x % 2 == 0; }), -1).value();
  }
  static dataset_ptr plus_one(const dataset_ptr& in, int64_t parallel = 3) {
    return make_map(in, traced(in, [](expr x) { return x + 1; }), parallel).value();
  }
  static dataset_ptr ahead(const dataset_ptr& in) { return make_prefetch(in, 3).value(); }

  test::scratch_folder scratch;

private:
  size_t folders_ = 0;
};

TEST_F(SaveSteps, GiveWhatOneProcessGives) {
  expect_same(range(0, 150)); // pieces have more than one element
  const auto many = range(0, 25);
  expect_same(batch(range(0, 150), 7));
  expect_same(batch(many, 7, true));
  expect_same(batch(batch(many, 7), 3, true));
  expect_same(even(plus_one(ahead(many))));
  expect_same(make_global_shuffle(many, 5, true).value());
  expect_same(batch(make_global_shuffle(many, 5, false).value(), 8));
  expect_same(make_options(plus_one(many, -1), {.autotune = true}).value());
  expect_same(make_cache(many).value());
}

TEST_F(SaveSteps, KeepTheOrderOfPasses) {
  const auto first = even(ahead(range(0, 9))), second = plus_one(range(100, 107));
  expect_same(repeat(first, 3));
  expect_same(repeat(concatenate(repeat(first, 2), ahead(second)), 2));
  expect_same(ahead(concatenate(ahead(batch(first->inputs[0], 4)), ahead(batch(second, 6)))));
  expect_same(concatenate(second, repeat(first, 0)));
  expect_same(repeat(concatenate(range(0, 0), range(0, 5)), 3));
  expect_same(repeat(first, 1));
}

TEST_F(SaveSteps, ZipsGiveAllPairsUpToTheShortestInput) {
  const auto counter = make_counter(5).value();
  for (const auto& shortest : {range(0, 6), records("short", 0, 6)}) {
    expect_same(zip({shortest, counter}));
    expect_same(zip({shortest, range(0, 9), make_random(3).value()}));
    expect_same(zip({range(0, 9), shortest}));
    expect_same(zip({records("long", 500, 9), shortest}));
    expect_same(zip({shortest, records("longer", 500, 8)}));
    expect_same(repeat(zip({ahead(shortest), ahead(records("other", 500, 9))}), 2));
  }
  expect_same(zip({counter, range(0, 6)}));
  expect_same(batch(zip({counter, range(0, 6)}), 4));
  expect_same(zip({ahead(counter), zip({range(3, 8), counter})}));
}

TEST_F(SaveSteps, FilesComeInTheirOrder) {
  std::vector<std::string> files;
  for (int i = 0; i < 5; ++i)
    files.push_back(text(fmt::format("{}.txt", i), fmt::format("{}a\n{}b\n", i, i)));
  expect_same(make_text_lines(names(files)).value());
  const auto found = make_list_files(names({scratch.path() + "/*.txt"})).value();
  expect_same(found);
  const auto lines_of = [](const dataset_ptr& in) {
    return traced(in, [](expr x) { return make_text_lines(x.node()).value(); });
  };
  expect_same(make_flat_map(found, lines_of(found)).value());
  expect_same(make_interleave(found, lines_of(found), 2).value(), false);
  expect_same(make_list_files(names({scratch.path() + "/*.txt"}), true).value(), false);
  expect_same(make_list_files(names({scratch.path() + "/*.txt"}), true, 7).value());
  const auto inner = make_flat_map(found, traced(found,
                                                 [](expr x) {
                                                   auto lines = make_text_lines(x.node()).value();
                                                   auto some = make_skip(lines, 1).value();
                                                   return batch(make_take(some, 3).value(), 2);
                                                 }))
                       .value();
  expect_same(inner);
}

TEST_F(SaveSteps, WithAnOrderOfTheirOwnTheElementsAreTheSame) {
  const auto many = range(0, 20);
  expect_same(repeat(make_global_shuffle(many).value(), 2), false);
  expect_same(make_map(many, traced(many, [](expr x) { return x * 2; }), 4, false).value(), false);
  expect_same(make_options(plus_one(many), {.deterministic = false}).value(), false);
}

TEST_F(SaveSteps, LoadedElementsCanBeSavedAgain) {
  const auto folder = fresh();
  ASSERT_EQ(save(folder, range(0, 20)), status{});
  expect_same(plus_one(loaded(folder)));
}

TEST_F(SaveSteps, AnEmptyDatasetHasNoPieces) {
  for (const auto& graph : {range(0, 0), repeat(range(0, 5), 0), zip({range(0, 5), range(0, 0)})}) {
    const auto folder = fresh();
    EXPECT_EQ(open(folder, graph).plan.pieces(), 0u);
    ASSERT_EQ(save(folder, graph), status{});
    EXPECT_THAT(test::read_all(loaded(folder)), IsEmpty());
    EXPECT_TRUE(open(folder, graph).whole);
  }
}

TEST_F(SaveSteps, WhatCannotBeDividedIsOnePiece) {
  const auto kept = make_cache(range(0, 50)).value();
  for (const auto& graph :
       {make_take(range(0, 100), 30).value(), concatenate(kept, kept), repeat(kept, 2),
        zip({kept, range(0, 50)}), zip({batch(range(0, 50), 1), batch(range(9, 50), 1)})}) {
    const auto folder = fresh();
    const auto opened = open(folder, graph);
    EXPECT_NE(opened.plan.whole_because, "");
    EXPECT_EQ(opened.plan.pieces(), 1u);
    ASSERT_EQ(save(folder, graph), status{});
    EXPECT_EQ(test::read_all(loaded(folder)), rows_of(graph));
  }
}

TEST_F(SaveSteps, ASourceThatTellsItsTotalAtItsEndIsOnePiece) {
  const auto endless =
    make_generator({"triple"}, element_spec{tensor_spec{dtype::int64, {}}}, -1, true).value();
  const auto folder = fresh();
  EXPECT_EQ(open(folder, endless).plan.whole_because,
            "generator says only at its end how many elements it has");
  ASSERT_EQ(save(folder, endless), status{});
  EXPECT_EQ(test::read_all(loaded(folder)), test::read_all(endless));
  // In a zip the length of one input is sufficient.
  expect_same(zip({endless, range(0, 9)}));
  expect_same(zip({range(0, 60), endless}));
  // A generator that is not deterministic might give other elements in each run. So pieces, each of
  // which is written by a run of its own, would not fit together.
  const auto any =
    make_generator({"triple"}, element_spec{tensor_spec{dtype::int64, {}}}, -1, false).value();
  EXPECT_EQ(open(fresh(), zip({any, range(0, 9)})).plan.pieces(), 1u);
}

TEST_F(SaveSteps, WhatRepeatsOftenHasNoMorePiecesThanItNeeds) {
  const auto opened = open(fresh(), repeat(range(0, 100), 2000));
  EXPECT_EQ(opened.plan.pieces(), 2000u);
  EXPECT_GT(open(fresh(), repeat(range(0, 100), 3)).plan.pieces(), 30u);
}

TEST_F(SaveSteps, MorePassesThanTherePiecesCanBeAreRefused) {
  const auto often = repeat(range(0, 2), 1'000'000'000'000);
  const auto some = [](const expr& x) {
    return make_range(scalar_constant(0), x.node(), scalar_constant(1)).value();
  };
  const auto for_ever = make_flat_map(repeat(range(0, 2), -1), traced(range(0, 2), some)).value();
  for (const auto& graph : {often, make_ignore_errors(often).value(), for_ever, ahead(often)})
    EXPECT_EQ(to_string(open_save(fresh(), graph, terms_of(graph), surroundings()).status()),
              "invalid_argument: it has more than 65536 passes over its sources; save what is "
              "repeated, and repeat what is loaded");
}

TEST_F(SaveSteps, ADatasetWithoutEndIsRefused) {
  const auto graph = make_counter().value();
  EXPECT_EQ(to_string(open_save(fresh(), graph, terms_of(graph), surroundings()).status()),
            "invalid_argument: the dataset never ends; take(n) of it first");
}

TEST_F(SaveSteps, RandomNumbersDifferFromPieceToPiece) {
  // Random numbers that functions draw differ, too, although each piece numbers its rows from 0.
  const auto many = range(0, 30);
  const auto drawn =
    make_map(
      many,
      traced(many, [](expr) { return random::stateless_uniform({}, random::element_seed(1)); }))
      .value();
  const auto drawn_inside =
    make_flat_map(many,
                  traced(many, [](expr) { return make_take(make_random().value(), 2).value(); }))
      .value();
  for (const auto& graph : {drawn, drawn_inside}) {
    const auto folder = fresh();
    ASSERT_EQ(save(folder, graph), status{});
    const auto rows = test::read_all(loaded(folder));
    EXPECT_EQ(rows.size(), rows_of(graph).size());
    EXPECT_GE(std::set(rows.begin(), rows.end()).size(), rows.size() - 2);
  }
}

TEST_F(SaveSteps, AnElementThatFailsFailsItsPiece) {
  const auto in = range(-5, 5);
  const auto graph = make_map(in, traced(in, [](expr x) { return 840 / x; })).value();
  const auto folder = fresh();
  const auto opened = open(folder, graph);
  size_t failed = 0;
  for (uint64_t i = 0; i < opened.plan.pieces(); ++i) {
    const auto how = write(folder, graph, opened.plan, i).status();
    failed += !how.ok();
    if (!how.ok()) {
      EXPECT_THAT(to_string(how), HasSubstr("map: "));
      EXPECT_EQ(
        to_string(finish_save(folder, opened.plan).status()),
        fmt::format("failed_precondition: piece {} is not in '{}'", i, piece_folder(folder, i)));
      EXPECT_THAT(names_in(piece_folder(folder, i)), IsEmpty());
    }
  }
  EXPECT_EQ(failed, 1u);
  expect_same(make_ignore_errors(graph).value());
}

TEST_F(SaveSteps, AFileThatFailsIsNotPassedOverWhereOneProcessEndsThere) {
  const auto good = text("good", "1\n2\n");
  const auto lines = [&](std::vector<std::string> files) {
    return make_ignore_errors(make_text_lines(names(std::move(files))).value()).value();
  };
  EXPECT_EQ(to_string(save(fresh(), lines({good, "/missing", good}))),
            "failed_precondition: text_lines ended early with an error, which ignore_errors hides: "
            "in one process nothing would be read after that; see without ignore_errors what "
            "failed");
  // After the last file there are no elements that the early end could hide.
  expect_same(lines({good, good, "/missing"}));
  expect_same(concatenate(lines({good, "/missing"}), lines({good})));
}

TEST_F(SaveSteps, FilesThatChangeMeanwhileAreTold) {
  const auto listed = make_list_files(names({scratch.path() + "/x*"})).value();
  text("x1", "");
  text("x2", "");
  const auto all = make_ignore_errors(listed).value();
  const auto folder = fresh();
  const auto opened = open(folder, all);
  ASSERT_EQ(opened.plan.pieces(), 2u);
  ASSERT_TRUE(write(folder, all, opened.plan, 0).ok());
  text("x3", "");
  EXPECT_EQ(to_string(write(folder, all, opened.plan, 1).status()),
            "failed_precondition: list_files does not find here what the worker found that began "
            "the save: all workers must see the same files, and these must stay as they are until "
            "the save is over");
  for (const auto& file : {"x1", "x2", "x3"}) fs::remove(scratch.path() + "/" + file);
  EXPECT_EQ(to_string(write(folder, all, opened.plan, 1).status()),
            "failed_precondition: list_files could not be opened here, which ignore_errors hides: "
            "in one process nothing would be read after that; see without ignore_errors what "
            "failed");
}

TEST_F(SaveSteps, GoOnWithWhatIsThere) {
  const auto graph = range(0, 20);
  const auto folder = fresh();
  const auto first = open(folder, graph);
  const auto pieces = first.plan.pieces();
  EXPECT_THAT(first.there, Each(false));
  EXPECT_EQ(first.there.size(), pieces);
  const auto one = write(folder, graph, first.plan, 1).value();
  EXPECT_EQ(write(folder, graph, first.plan, 1).value(), one);
  EXPECT_EQ(one.rows, 1u);
  ASSERT_TRUE(note_save_failure(folder, first.plan.id, unavailable("no room")).ok());
  const auto again = open(folder, graph, 9);
  EXPECT_TRUE(noted_save_failure(folder).ok());
  EXPECT_EQ(again.plan.id, first.plan.id);
  EXPECT_EQ(again.plan.sections, first.plan.sections);
  EXPECT_EQ(again.amount, one);
  EXPECT_EQ(std::ranges::count(again.there, true), 1);
  EXPECT_TRUE(again.there[1]);
  EXPECT_FALSE(again.whole);
  ASSERT_EQ(save(folder, graph), status{});
  const auto whole = open(folder, graph);
  EXPECT_TRUE(whole.whole);
  EXPECT_THAT(whole.there, Each(true));
  EXPECT_EQ(whole.amount.rows, 20u);
  EXPECT_EQ(finish_save(folder, whole.plan).value(), whole.amount);
  EXPECT_EQ(read_save_plan(folder, first.plan.id).value().sections, first.plan.sections);
}

TEST_F(SaveSteps, AFolderWithSomethingElseIsRefused) {
  const auto graph = range(0, 5);
  const auto folder = fresh();
  const auto plan = open(folder, graph).plan;
  const auto refused = [&](const save_terms& terms) {
    return to_string(open_save(folder, graph, terms, surroundings()).status());
  };
  const auto name = terms_of(graph).fingerprint;
  EXPECT_EQ(refused({"another one", saved_compression::snappy, 1}),
            fmt::format("already_exists: '{}' holds another dataset, or is being written with one "
                        "(fingerprint {:.12}, this one has another one); name another folder, or "
                        "remove that one",
                        folder, name));
  EXPECT_EQ(refused({name, saved_compression::gzip, 1}),
            fmt::format("already_exists: '{}' holds this dataset with compression SNAPPY, and not "
                        "GZIP; name that one, or another folder",
                        folder));
  EXPECT_THAT(to_string(saved_writer::open(folder, graph->spec, {}).status()),
              AllOf(HasSubstr("already_exists"), HasSubstr("name another folder")));
  EXPECT_THAT(to_string(read_save_plan(folder, plan.id + 1).status()),
              HasSubstr("is not what was written there when the save began"));
  EXPECT_THAT(to_string(read_save_plan(fresh(), plan.id).status()),
              HasSubstr("which another worker wrote there: all workers must see the same files"));
}

TEST_F(SaveSteps, APlainlySavedFolderIsRefused) {
  const auto folder = fresh();
  ASSERT_TRUE(saved_writer::open(folder, range(0, 5)->spec, {}).value()->finish().ok());
  EXPECT_EQ(to_string(save(folder, range(0, 5))),
            fmt::format("already_exists: '{}' holds a dataset that was saved by itself; name "
                        "another folder, or remove that one",
                        folder));
  EXPECT_FALSE(find_save_plan(folder).value());
}

TEST_F(SaveSteps, ADatasetThatWasSavedThereMeanwhileStaysAndIsTold) {
  const auto folder = fresh();
  fs::create_directories(folder);
  auto plain = saved_writer::open(folder, range(0, 5)->spec, {.replace = true}).value();
  const auto plan = open(folder, range(0, 5)).plan;
  for (uint64_t i = 0; i < plan.pieces(); ++i)
    ASSERT_TRUE(write(folder, range(0, 5), plan, i).ok());
  EXPECT_THAT(plain->finish().status().message(), HasSubstr("the workers of a service write"));
  ASSERT_TRUE(write_saved(folder, {.id = 7, .spec = plan.spec}).ok());
  const auto why = fmt::format("already_exists: '{}' holds another dataset than the one that "
                               "workers wrote there; name another folder, or remove that one",
                               folder);
  EXPECT_EQ(to_string(finish_save(folder, plan).status()), why);
  EXPECT_EQ(to_string(save(folder, range(0, 5))), why);
  EXPECT_EQ(read_saved(folder).value().rows(), 0u);
}

TEST_F(SaveSteps, FilesAreCutWhereTheyAreLargeEnough) {
  const auto graph = make_take(range(0, 300'000), 300'000).value();
  const auto folder = fresh();
  const auto terms = save_terms{terms_of(graph).fingerprint, saved_compression::none, 1};
  const auto plan = open_save(folder, graph, terms, surroundings()).value().plan;
  const auto done = write_piece(folder, graph, plan, 0, 1 << 20, surroundings()).value();
  ASSERT_TRUE(finish_save(folder, plan).ok());
  const auto shards = read_saved(folder).value().shards;
  EXPECT_EQ(shards.size(), 3u);
  uint64_t bytes = 0;
  for (const auto& shard : shards) {
    EXPECT_EQ(fs::file_size(folder + "/" + shard.file), shard.bytes);
    EXPECT_LT(shard.bytes, uint64_t{2} << 20);
    bytes += shard.bytes;
  }
  EXPECT_EQ(done, (saved_amount{300'000, bytes}));
  EXPECT_EQ(test::read_numbers(loaded(folder)), test::read_numbers(graph));
}

} // namespace
} // namespace headrace::detail
