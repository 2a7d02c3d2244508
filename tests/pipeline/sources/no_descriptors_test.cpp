#include "headrace/pipeline/functions/io.hpp"
#include "tests/pipeline/sources/source_rows.hpp"
#include "tests/support/few_descriptors.hpp"

#include <chrono>
#include <future>
#include <gmock/gmock.h>

namespace headrace::detail {
namespace {

using namespace std::chrono_literals;
using test::few_descriptors;
using test::read_all;
using test::scratch_folder;
using testing::ElementsAre;

/// Begins to read while the process has no free descriptor, and then frees some. Returns the rows.
std::vector<std::string> read_without_descriptors(const dataset_ptr& graph) {
  few_descriptors few{20};
  few.take_all();
  auto rows = std::async(std::launch::async, [&] { return read_all(graph); });
  EXPECT_EQ(rows.wait_for(50ms), std::future_status::timeout) << "it does not wait";
  few.give_back();
  return rows.get();
}

TEST(WithoutDescriptors, SourcesWaitForOne) {
  scratch_folder folder;
  const auto a = folder.write("a", "one\ntwo\n"), b = folder.write("b", "six");
  EXPECT_THAT(
    read_without_descriptors(make_text_lines(test::files({a, b}), file_compression::none).value()),
    ElementsAre("'one'", "'two'", "'six'"));
  EXPECT_THAT(
    read_without_descriptors(
      make_fixed_length(test::files({b}), {.record_bytes = 3}, file_compression::none).value()),
    ElementsAre("'six'"));
}

TEST(WithoutDescriptors, NoFileIsMissingFromAList) {
  scratch_folder folder;
  const auto a = folder.write("a.txt", "1"), b = folder.write("b.txt", "2");
  EXPECT_THAT(
    read_without_descriptors(make_list_files(test::files({folder.path() + "/*.txt"})).value()),
    ElementsAre("'" + a + "'", "'" + b + "'"));
}

TEST(WithoutDescriptors, AFunctionThatReadsFilesWaitsForOne) {
  scratch_folder folder;
  const auto names = make_list_files(test::files({folder.write("a.txt", "text")})).value();
  const auto contents =
    make_map(names, test::traced(names, [](const expr& name) { return io::read_file(name); }))
      .value();
  EXPECT_THAT(read_without_descriptors(contents), ElementsAre("'text'"));
}

} // namespace
} // namespace headrace::detail
