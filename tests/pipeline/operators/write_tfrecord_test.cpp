#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/operators/read_rows.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace headrace::detail {
namespace {

using test::range;
using test::read_all;
using test::traced;
using test::why;
using testing::ElementsAre;
using testing::HasSubstr;

expr_ptr text_constant(const std::string& x) { return expr{x}.node(); }
dataset_ptr words(int64_t n) {
  const auto in = range(0, n);
  return make_map(in, traced(in, [](expr x) { return strings::as_string(x); })).value();
}
std::vector<std::string> records_of(const std::string& path, file_compression how) {
  return read_all(make_tfrecord(string_constant(std::vector{path}), how).value());
}

TEST(WriteTfrecord, GivesTheNumberOfRecordsOnceTheFileIsWhole) {
  const test::scratch_directory folder;
  const auto path = folder.path() + "/a";
  for (const auto how : file_compressions)
    for (const size_t n : {1, 1000}) {
      const auto graph = make_write_tfrecord(words(3), text_constant(path), how).value();
      EXPECT_EQ(graph->cardinality, 1);
      EXPECT_FALSE(std::filesystem::exists(path));
      EXPECT_THAT(read_all(decode_graph(encode_graph(graph).value()).value(), test::always(n)),
                  ElementsAre("3"));
      EXPECT_THAT(records_of(path, how), ElementsAre("'0'", "'1'", "'2'"));
      std::filesystem::remove(path);
    }
}

TEST(WriteTfrecord, AFunctionWritesAFileForEachRow) {
  const test::scratch_directory folder;
  const auto in = range(0, 3);
  const auto prefix = folder.path() + "/of-";
  const auto each = traced(in, [&](expr n) {
    const auto numbers =
      make_range(constant(int64_t{0}).node(), n.node(), constant(int64_t{1}).node());
    const auto& rows = numbers.value();
    const auto lines =
      make_map(rows, traced(rows, [n](expr x) { return strings::as_string(n * 10 + x); })).value();
    return make_write_tfrecord(lines, strings::join({expr{prefix}, strings::as_string(n)}).node())
      .value();
  });
  EXPECT_THAT(read_all(make_interleave(in, each, 2, 1, 2).value()), ElementsAre("0", "1", "2"));
  EXPECT_THAT(records_of(prefix + "0", file_compression::none), ElementsAre());
  EXPECT_THAT(records_of(prefix + "2", file_compression::none), ElementsAre("'20'", "'21'"));
}

TEST(WriteTfrecord, ARecordThatFailsLeavesTheFileThatWasThere) {
  const test::scratch_directory folder;
  const auto path = folder.path() + "/a";
  EXPECT_THAT(read_all(make_write_tfrecord(words(2), text_constant(path)).value()),
              ElementsAre("2"));
  const auto in = range(-2, 5);
  const auto fails =
    make_map(in, traced(in, [](expr x) { return strings::as_string(6 / x); })).value();
  EXPECT_THAT(read_all(make_write_tfrecord(fails, text_constant(path)).value()),
              ElementsAre("!invalid_argument: write_tfrecord '" + path
                          + "': map: divide: integer division by zero"));
  EXPECT_EQ(records_of(path, file_compression::none).size(), 2u);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{folder.path()}, {}), 1);
  EXPECT_THAT(read_all(make_write_tfrecord(words(2), text_constant("/no/such/folder/x")).value()),
              ElementsAre(HasSubstr("not_found: write_tfrecord '/no/such/folder/x'")));
}

TEST(WriteTfrecord, RefusesWhatIsNoRecordAndNoPath) {
  const auto endless = make_repeat(words(2)).value();
  EXPECT_EQ(why(make_write_tfrecord(endless, text_constant("a"))),
            "write_tfrecord: the dataset never ends; take a part of it");
  EXPECT_EQ(why(make_write_tfrecord(words(2), scalar_constant(1))),
            "write_tfrecord: path is int64[]; it must be a string scalar");
}

TEST(WriteTfrecord, WorkersOfAServiceWouldWriteOverEachOther) {
  const auto in = range(0, 3);
  const auto each =
    traced(in, [](expr) { return make_write_tfrecord(words(2), text_constant("a")).value(); });
  for (const auto& graph :
       {make_write_tfrecord(words(2), text_constant("a")).value(), make_flat_map(in, each).value()})
    EXPECT_THAT(why(make_distribute(graph, {.address = "a:1"})),
                HasSubstr("distribute: the dataset writes TFRecord files"));
}

} // namespace
} // namespace headrace::detail
