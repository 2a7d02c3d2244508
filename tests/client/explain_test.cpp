#include "headrace/headrace.hpp"
#include "tests/client/support/command.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/paths.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using test::run_command;
using testing::HasSubstr;

dataset some_pipeline() {
  return dataset::range(10000).map([](expr x) { return x * 2; }).batch(100);
}

TEST(ExplainCommand, RunsAPipelineFromAFile) {
  test::scratch_folder folder;
  const auto file = folder.path() + "/pipeline";
  ASSERT_EQ(write_dataset(some_pipeline(), file), status{});
  const auto said = run_command({"explain", file});
  EXPECT_EQ(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("batch(100)"));
  EXPECT_THAT(said.text, HasSubstr("  map"));
  EXPECT_THAT(said.text, HasSubstr("100 elements in"));
  EXPECT_THAT(said.text, HasSubstr("bottleneck: "));
}

TEST(ExplainCommand, RunsARegisteredDataset) {
  local_cluster cluster{{.workers = 0}};
  register_dataset(cluster.target(), some_pipeline(), "mine");
  const auto said = run_command({"explain", "mine", "--dispatcher", cluster.target()});
  EXPECT_EQ(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("100 elements in"));
  EXPECT_THAT(run_command({"explain", "other", "--dispatcher", cluster.target()}).text,
              HasSubstr("other"));
}

TEST(ExplainCommand, TellsWhatIsWrongWithAFile) {
  test::scratch_folder folder;
  EXPECT_THAT(run_command({"explain", "/nowhere"}).text, HasSubstr("cannot open '/nowhere'"));
  const auto said = run_command({"explain", folder.write("text", "12345678")});
  EXPECT_NE(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("holds no dataset"));
}

TEST(PluginFlag, OfAFileThatIsNotThereEndsTheWorkerWithTheReason) {
  const auto said = run_command({"worker", "--plugin", "/nowhere/x.so", "--no-restart"});
  EXPECT_NE(said.code, exit_code::ok);
  EXPECT_THAT(said.text, HasSubstr("--plugin: plug-in '/nowhere/x.so': there is no such file"));
}

TEST(PluginFlag, GivesAWorkerTheFunctionsOfALibrary) {
  const test::started up{{"up", "--port", "0", "--plugin", test::tile_plugin()}};
  const auto sizes = dataset::from_tensor_slices(constant(std::vector<std::string>{"a", "bcd"}))
                       .map(named_call{"tile.bytes", tensor_spec{dtype::int64, {}}})
                       .apply(distribute({.service = up.address}));
  std::vector<int64_t> read;
  for (const auto& x : sizes) read.push_back(x[0].scalar<int64_t>());
  EXPECT_THAT(read, testing::ElementsAre(1, 3));
}

} // namespace
} // namespace headrace::detail
