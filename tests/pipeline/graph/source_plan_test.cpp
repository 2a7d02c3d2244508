#include "headrace/pipeline/graph/split_plan.hpp"
#include "tests/pipeline/sources/source_rows.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::files;

std::optional<uint64_t> splits(const result<dataset_ptr>& graph) {
  return plan_splits(graph.value()).sources.at(0).splits;
}

TEST(SourcePlan, TellsTheSplitsThatTheGraphTells) {
  const std::vector<field_format> one{field("a", dtype::int64)};
  EXPECT_EQ(splits(make_csv(files({"x", "y"}), one)), 2u);
  EXPECT_EQ(splits(make_json_lines(files({"x", "y", "z"}), one)), 3u);
  EXPECT_EQ(splits(make_tar_samples(files({"x"}), {"a"})), 1u);
  EXPECT_EQ(splits(make_sql("sqlite", expr{"x"}.node(), expr{"y"}.node(), one)), 1u);
  EXPECT_EQ(splits(make_fixed_length(files({"x", "y"}), {5}, file_compression::gzip)), 2u);
  EXPECT_EQ(splits(make_fixed_length(files({"x", "y"}), {5})), std::nullopt);
  EXPECT_EQ(splits(make_generator({"f"}, tensor_spec{}, 7)), 7u);
  EXPECT_EQ(splits(make_generator({"f"}, tensor_spec{})), std::nullopt);
  EXPECT_EQ(splits(make_generator({"f"}, tensor_spec{}, -1, false)), 1u);
  EXPECT_EQ(splits(make_counter()), std::nullopt);
  EXPECT_TRUE(plan_splits(make_random().value()).infinite);
}

TEST(SourcePlan, LeasesRowsOfZippedSourcesTogether) {
  auto numbered =
    make_zip({make_fixed_length(files({"x"}), {5}).value(), make_counter().value()}).value();
  EXPECT_EQ(plan_splits(numbered).groups, 1u);
  auto packed = make_zip({make_fixed_length(files({"x"}), {5}, file_compression::gzip).value(),
                          make_counter().value()})
                  .value();
  EXPECT_EQ(plan_splits(packed).groups, 2u);
}

TEST(SourcePlan, CountsTheInputsThatZipsHoldRowsOfWhereASourceIsRead) {
  const auto range = [] { return make_counter().value(); };
  const auto graph = make_zip({range(), make_zip({range(), range()}).value(), range()}).value();
  std::vector<uint32_t> behind;
  for (const auto& source : plan_splits(graph).sources) behind.push_back(source.behind);
  EXPECT_EQ(behind, (std::vector<uint32_t>{0, 1, 2, 2}));
}

} // namespace
} // namespace headrace::detail
