#include "headrace/pipeline/saving/piecewise.hpp"

#include "headrace/pipeline/graph/split_plan.hpp"
#include "tests/pipeline/support/rows.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::range;
using test::traced;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

using source = piecewise::source;

dataset_ptr files() {
  return make_text_lines(string_constant(std::vector<std::string>{"a", "b"})).value();
}
dataset_ptr records(file_compression compression = file_compression::none) {
  return make_fixed_length(string_constant(std::vector<std::string>{"a", "b"}), {8, 0, 0},
                           compression)
    .value();
}
dataset_ptr counter() { return make_counter().value(); }
dataset_ptr plus_one(const dataset_ptr& in) {
  return make_map(in, traced(in, [](expr x) { return x + 1; })).value();
}
dataset_ptr even(const dataset_ptr& in) {
  return make_filter(in, traced(in, [](expr x) { return x % 2 == 0; })).value();
}
function_ptr up_to(const dataset_ptr& in) {
  return traced(in, [](expr x) {
    return make_range(scalar_constant(0), x.node(), scalar_constant(1)).value();
  });
}
dataset_ptr batch(const dataset_ptr& in, int64_t size) { return make_batch(in, size).value(); }
dataset_ptr repeat(const dataset_ptr& in, int64_t count) { return make_repeat(in, count).value(); }
dataset_ptr zip(std::vector<dataset_ptr> inputs) { return make_zip(std::move(inputs)).value(); }
dataset_ptr concatenate(const dataset_ptr& a, const dataset_ptr& b) {
  return make_concatenate(a, b).value();
}
dataset_ptr sample_from(std::vector<dataset_ptr> inputs, bool stop) {
  return make_sample_from(std::move(inputs), {}, 1, stop).value();
}
dataset_ptr cache(const dataset_ptr& in, std::string folder = {}) {
  return make_cache(in, std::move(folder)).value();
}
dataset_ptr elsewhere(std::string job) {
  return make_distribute(range(0, 3), {.address = "x:1", .job_name = std::move(job)}).value();
}

std::vector<source> sources_of(const dataset_ptr& graph) {
  const auto how = piecewise_of(graph);
  EXPECT_EQ(how.whole_because, "");
  EXPECT_EQ(how.sources.size(), plan_splits(graph).sources.size());
  return how.sources;
}
/// The reason for which the graph is not divided; it begins with the name of the operator.
std::string reason_of(const dataset_ptr& graph) {
  const auto how = piecewise_of(graph);
  EXPECT_FALSE(how.possible());
  EXPECT_THAT(how.sources, IsEmpty());
  return how.whole_because;
}

constexpr source row{true, 1}, file{false, 1};

TEST(Piecewise, TellsSourcesOfRowsFromThoseOfFiles) {
  for (const auto& graph :
       {range(0, 9), make_from_tensors({scalar_constant(1)}).value(), counter(),
        make_random().value(), records(), make_global_shuffle(range(0, 9)).value()})
    EXPECT_THAT(sources_of(graph), ElementsAre(row)) << to_string(graph->op);
  for (const auto& graph : {files(), records(file_compression::gzip)})
    EXPECT_THAT(sources_of(graph), ElementsAre(file)) << to_string(graph->op);
}

TEST(Piecewise, WhatLooksAtOneElementAtATimeIsDivided) {
  const auto in = range(0, 9);
  for (const auto& graph :
       {plus_one(in), even(in), make_flat_map(in, up_to(in)).value(),
        make_interleave(in, up_to(in), 2).value(), make_ignore_errors(in).value(),
        make_prefetch(in).value(), make_sleep(in, 1).value(),
        make_options(in, {.deterministic = false}).value(), repeat(in, 3), repeat(in, 0), cache(in),
        repeat(cache(in), 1)})
    EXPECT_THAT(sources_of(graph), ElementsAre(row)) << to_string(graph->op);
}

TEST(Piecewise, WhatLooksAtSeveralIsWhole) {
  const auto in = range(0, 9);
  auto sum = std::make_shared<const function>(
    trace(element_spec::tuple({tensor_spec{dtype::int64, {}}, in->spec}), [](expr state, expr x) {
      return std::pair{state + x, x};
    }));
  auto last = std::make_shared<const function>(
    trace(element_spec::tuple({tensor_spec{dtype::int64, {}}, in->spec}),
          [](expr state, expr x) { return state + x; }));
  auto below = traced(in, [](expr x) { return x < 3; });
  for (const auto& graph :
       {make_take(in, 3).value(), make_skip(in, 3).value(), make_enumerate(in).value(),
        make_take_while(in, below).value(), make_shard(in, 2, 0).value(),
        make_unique_elements(in).value(), make_scan(in, {scalar_constant(0)}, sum).value(),
        make_assert_cardinality(in, 9).value(), make_single_element(in).value(),
        make_choose_from(range(0, 1), {in}).value(),
        make_write_tfrecord(make_text_lines(string_constant(std::vector{std::string{"a"}})).value(),
                            expr{std::string{"b"}}.node())
          .value()})
    EXPECT_EQ(reason_of(graph), std::string{to_string(graph->op)}
                                  + " looks at more than one element; save what stands before it, "
                                    "and put it after load");
  for (const auto& graph :
       {make_reduce(in, {scalar_constant(0)}, last).value(), make_window(in, 2, 2).value(),
        make_rejection_resample(in, traced(in, [](expr x) { return x % 2; }), {0.5, 0.5}).value()})
    EXPECT_THAT(reason_of(graph), HasSubstr(" looks at more than one element")) << reason_of(graph);
}

TEST(Piecewise, ABatchIsOfOnePieceAndSoAreBatchesOfBatches) {
  EXPECT_THAT(sources_of(batch(range(0, 99), 4)), ElementsAre(source{true, 4}));
  EXPECT_THAT(sources_of(batch(plus_one(range(0, 99)), 4)), ElementsAre(source{true, 4}));
  EXPECT_THAT(sources_of(batch(batch(range(0, 99), 4), 3)), ElementsAre(source{true, 12}));
  EXPECT_THAT(sources_of(batch(cache(range(0, 99)), 4)), ElementsAre(source{true, 4}));
  EXPECT_THAT(sources_of(repeat(batch(range(0, 99), 4), 3)), ElementsAre(source{true, 4}));
  EXPECT_THAT(sources_of(batch(records(), 5)), ElementsAre(source{true, 5}));
  EXPECT_THAT(sources_of(make_padded_batch(range(0, 99), 4).value()), ElementsAre(source{true, 4}));
  EXPECT_THAT(sources_of(make_ragged_batch(range(0, 99), 4).value()), ElementsAre(source{true, 4}));
  EXPECT_THAT(sources_of(batch(zip({range(0, 9), counter()}), 4)),
              ElementsAre(source{true, 4}, source{true, 4}));
}

TEST(Piecewise, BatchesOfUnlikeSizesDoNotConcernEachOther) {
  EXPECT_THAT(sources_of(concatenate(batch(range(0, 99), 4), batch(range(0, 99), 6))),
              ElementsAre(source{true, 4}, source{true, 6}));
}

TEST(Piecewise, ABatchThatMayBeOfSeveralPiecesIsWhole) {
  const auto in = range(0, 9);
  for (const auto& graph :
       {batch(files(), 4), batch(records(file_compression::gzip), 4), batch(even(in), 4),
        batch(repeat(in, 2), 4), batch(concatenate(in, in), 4),
        batch(make_ignore_errors(in).value(), 4), batch(make_flat_map(in, up_to(in)).value(), 4),
        batch(batch(batch(in, INT32_MAX), INT32_MAX), INT32_MAX)})
    EXPECT_EQ(reason_of(graph), "batch takes elements together that may be of several pieces; save "
                                "what stands before it, and batch what is loaded");
}

TEST(Piecewise, AZipIsDividedWhereItsSourcesAdvanceTogether) {
  EXPECT_THAT(sources_of(zip({range(0, 9), records(), counter()})), ElementsAre(row, row, row));
  EXPECT_THAT(sources_of(zip({counter(), zip({range(0, 9), plus_one(counter())})})),
              ElementsAre(row, row, row));
}

TEST(Piecewise, AZipOfWhatIsOutOfStepIsWhole) {
  const auto in = range(0, 9);
  // A batch of size 1 and a cache give one row for each row of their input. But plan_splits does
  // not put the sources below them into the group of the zip.
  for (const auto& graph :
       {zip({in, files()}), zip({in, even(in)}), zip({in, repeat(in, 2)}), zip({in, batch(in, 2)}),
        zip({batch(in, 2), batch(in, 2)}), zip({batch(in, 1), batch(in, 1)}), zip({in, cache(in)}),
        zip({cache(in), cache(range(0, 9))})})
    EXPECT_EQ(reason_of(graph),
              "zip pairs elements by their places, which are known only when all are read");
}

TEST(Piecewise, ACacheThatIsReadAgainIsWhole) {
  const auto kept = cache(range(0, 9));
  for (const auto& graph : {repeat(kept, 2), repeat(concatenate(kept, range(0, 3)), 2),
                            repeat(repeat(kept, 1), 3), concatenate(kept, kept)})
    EXPECT_EQ(reason_of(graph), "cache is read again, which takes one run that has filled it");
  EXPECT_THAT(sources_of(concatenate(kept, cache(range(0, 9)))), ElementsAre(row, row));
}

TEST(Piecewise, WhatIsKeptInAFolderIsWhole) {
  const auto why = " keeps elements in a folder, which takes one run of all of them";
  EXPECT_EQ(reason_of(cache(range(0, 9), "/kept")), std::string{"cache"} + why);
  EXPECT_EQ(reason_of(make_snapshot(range(0, 9), "/kept").value()), std::string{"snapshot"} + why);
}

TEST(Piecewise, WhatMixesElementsIsWhole) {
  for (const auto& graph :
       {sample_from({records(), files()}, false), sample_from({records(), files()}, true)})
    EXPECT_EQ(reason_of(graph), "sample_from_datasets mixes the elements of all its inputs; save "
                                "these, and mix what is loaded");
  EXPECT_EQ(reason_of(make_shuffle(range(0, 9), 4).value()),
            "shuffle mixes the elements of all pieces; save what stands before it, and shuffle "
            "what is loaded");
}

TEST(Piecewise, TheFirstReasonIsTold) {
  EXPECT_THAT(
    reason_of(concatenate(make_take(range(0, 9), 3).value(), make_skip(range(0, 9), 3).value())),
    StartsWith("take "));
  EXPECT_THAT(reason_of(repeat(make_skip(files(), 3).value(), 2)), StartsWith("skip "));
}

TEST(Piecewise, OtherJobsAreReadByOneRun) {
  const auto why = " reads from another job, which gives its elements to one run";
  EXPECT_EQ(reason_of(elsewhere("")), std::string{"distribute"} + why);
  EXPECT_EQ(reason_of(concatenate(range(0, 3), elsewhere("x"))), std::string{"distribute"} + why);
}

TEST(Piecewise, JobsThatFunctionsReadAreOnesOfTheirOwnUnlessTheyHaveAName) {
  const auto in = range(0, 9);
  const auto of_each = [&](const std::string& job) {
    return make_flat_map(in, traced(in, [&](expr) { return elsewhere(job); })).value();
  };
  EXPECT_THAT(sources_of(of_each("")), ElementsAre(row));
  EXPECT_THAT(reason_of(of_each("x")), HasSubstr("reads from another job"));
}

TEST(Piecewise, DatasetsOfFunctionsAreReadWhole) {
  const auto in = range(0, 9);
  const auto some =
    make_flat_map(
      in, traced(in,
                 [](expr x) {
                   auto all = make_range(scalar_constant(0), x.node(), scalar_constant(1)).value();
                   return batch(make_take(make_skip(all, 1).value(), 3).value(), 2);
                 }))
      .value();
  EXPECT_THAT(sources_of(some), ElementsAre(row));
}

} // namespace
} // namespace headrace::detail
