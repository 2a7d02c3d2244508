#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/pipeline/support/tar.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

// The errors of restoring a position that does not fit the data any more, because the data was
// removed or changed.

namespace headrace::detail {
namespace {

using test::traced;

class ChangedData : public ::testing::Test {
protected:
  std::string path(const std::string& name) const { return folder_.path() + "/" + name; }
  expr_ptr file(const std::string& name) const { return string_constant(std::vector{path(name)}); }
  /// Lines with the numbers from 0 on.
  void write_lines(int64_t count) {
    std::string text;
    for (int64_t i = 0; i < count; ++i) text += fmt::format("{}\n", i);
    folder_.write("lines", text);
  }
  dataset_ptr lines() const {
    auto read = make_text_lines(file("lines")).value();
    return make_map(read, traced(read, [](expr x) { return strings::to_number<int64_t>(x); }))
      .value();
  }
  void write_rows(int64_t count) {
    std::filesystem::remove(path("base"));
    std::string all = "create table t(x integer);";
    for (int64_t i = 0; i < count; ++i) all += fmt::format("insert into t values ({});", i);
    sqlite3* base = nullptr;
    ASSERT_EQ(sqlite3_open(path("base").c_str(), &base), SQLITE_OK);
    ASSERT_EQ(sqlite3_exec(base, all.c_str(), nullptr, nullptr, nullptr), SQLITE_OK);
    sqlite3_close(base);
  }
  void write_samples(int64_t count) {
    std::string bytes;
    for (int64_t i = 0; i < count; ++i) bytes += test::tar_member(fmt::format("{}.txt", i), "x");
    folder_.write("tar", bytes + test::tar_end());
  }
  void write_records(int64_t count) {
    auto to = tfrecord_writer::open(path("records"), {}).value();
    for (int64_t i = 0; i < count; ++i) ASSERT_EQ(to.write(std::to_string(i)), status{});
    ASSERT_EQ(to.finish(), status{});
  }
  void save_numbers(std::vector<int64_t> xs) {
    std::filesystem::remove_all(path("saved"));
    auto to =
      saved_writer::open(path("saved"), element_spec{tensor_spec{dtype::int64, {}}}, {}).value();
    block rows;
    rows.rows = xs.size();
    rows.columns.push_back(column::of_scalars(std::span<const int64_t>{xs}));
    ASSERT_EQ(to->write(rows, 0), status{});
    ASSERT_TRUE(to->finish());
  }
  std::string write(const std::string& name, const std::string& bytes) {
    return folder_.write(name, bytes);
  }

  /// Reads `rows` rows, saves the position, changes the data, and returns the error of continuing.
  template <class Change>
  std::string why(const dataset_ptr& graph, size_t rows, Change change) {
    iterator_context context;
    auto first = make_iterator(graph, context).value();
    const auto read = test::read_all(*first, test::always(1), rows);
    EXPECT_EQ(read.size(), rows) << to_string(graph->op);
    const auto saved = first->save();
    first.reset();
    change();
    auto next = make_iterator(graph, context);
    auto out = to_string(next ? (*next)->restore(*saved) : next.status());
    for (size_t at; (at = out.find(folder_.path())) != std::string::npos;)
      out.replace(at, folder_.path().size(), "F");
    return out;
  }
  /// Calls the other `why` for a file of eight lines; the change removes all lines but the first.
  std::string why(const dataset_ptr& graph, size_t rows) {
    write_lines(8);
    return why(graph, rows, [&] { write_lines(1); });
  }

private:
  test::scratch_folder folder_;
};

TEST_F(ChangedData, OfSourcesNamesTheFile) {
  EXPECT_EQ(why(lines(), 5), "data_loss: map: text_lines: 'F/lines' ends before offset 10, where "
                             "the saved position is: it is not what it was");
  write("table", "n\n1\n2\n3\n");
  EXPECT_EQ(why(make_csv(file("table"), {field("n", dtype::int64)}, {.header = true}).value(), 2,
                [&] { write("table", "n\n"); }),
            "data_loss: csv: 'F/table' ends before offset 6, where the saved position is: it is "
            "not what it was");
  write("json", "{\"n\": 1}\n{\"n\": 2}\n");
  EXPECT_EQ(why(make_json_lines(file("json"), {field("n", dtype::int64)}).value(), 2,
                [&] { write("json", "\n"); }),
            "data_loss: json_lines: 'F/json' ends before offset 18, where the saved position is: "
            "it is not what it was");
  write("fixed", "aabbcc");
  EXPECT_EQ(
    why(make_fixed_length(file("fixed"), {2, 0, 0}).value(), 2, [&] { write("fixed", "aa"); }),
    "data_loss: the position of a fixed_length does not fit: the dataset or its data is not what "
    "it was when the position was saved");
  write_records(5);
  EXPECT_EQ(why(make_tfrecord(file("records")).value(), 3, [&] { write_records(1); }),
            "data_loss: tfrecord: 'F/records' ends before offset 51, where the saved position is: "
            "it is not what it was");
  write_samples(5);
  EXPECT_EQ(why(make_tar_samples(file("tar"), {"txt"}).value(), 3, [&] { write_samples(2); }),
            "data_loss: tar_samples: 'F/tar' has 2 samples now, the saved position is after sample "
            "3: it is not what it was");
  write_rows(5);
  const auto query = expr{"select x from t"}.node();
  EXPECT_EQ(
    why(make_sql("sqlite", expr{path("base")}.node(), query, {field("x", dtype::int64)}).value(), 3,
        [&] { write_rows(2); }),
    "data_loss: sql: the query on 'F/base' gives 2 rows now, the saved position is after row 3: "
    "the data is not what it was");
}

TEST_F(ChangedData, OfWholeFoldersSaysSo) {
  write("a.txt", "");
  EXPECT_EQ(why(make_list_files(file("*.txt")).value(), 1, [&] { write("b.txt", "x"); }),
            "failed_precondition: list_files: the patterns match other files than when the "
            "position was saved");
  write_records(5);
  const auto shuffled = make_global_shuffle(make_tfrecord(file("records")).value()).value();
  EXPECT_EQ(why(shuffled, 3, [&] { write_records(4); }),
            "data_loss: the position of a global_shuffle does not fit: the dataset or its data is "
            "not what it was when the position was saved");
  save_numbers({1, 2, 3});
  const element_spec number{tensor_spec{dtype::int64, {}}};
  const auto loaded = make_load(path("saved"), number, 1, 3).value();
  EXPECT_EQ(why(loaded, 1,
                [&] {
                  save_numbers({1, 2, 4});
                }),
            "data_loss: load: the saved elements are not those of when the position was saved");
  EXPECT_EQ(why(loaded, 1,
                [&] {
                  save_numbers({1, 2});
                }),
            "failed_precondition: load: 'F/saved' has 2 elements in 1 blocks, which is not what it "
            "had when the dataset was made; make it again");
}

TEST_F(ChangedData, OfWhatIsReadAgainNamesTheOperator) {
  EXPECT_EQ(why(make_shuffle(lines(), 4).value(), 2),
            "data_loss: shuffle: the data is not what it was when the position was saved");
  EXPECT_EQ(why(make_unique_elements(lines()).value(), 5),
            "data_loss: unique: the data is not what it was when the position was saved");
  EXPECT_EQ(why(make_repeat(make_cache(lines()).value(), 2).value(), 5),
            "data_loss: repeat: cache: the data is not what it was when the position was saved");
  EXPECT_EQ(why(make_batch(make_padded_batch(lines(), 2).value(), 2).value(), 1),
            "data_loss: batch: padded_batch: map: text_lines: 'F/lines' ends before offset 8, "
            "where the saved position is: it is not what it was");
  const auto in = lines();
  const auto id = traced(in, [](expr x) { return x; });
  EXPECT_EQ(why(make_map(in, id, 2).value(), 5),
            "data_loss: map: map: text_lines: 'F/lines' ends before offset 10, where the saved "
            "position is: it is not what it was");
  const auto mod = traced(in, [](expr x) { return x % 3; });
  const auto group = std::make_shared<const function>(
    trace(grouped_spec(in->spec), [](expr, dataset_ptr xs) { return xs; }));
  EXPECT_EQ(why(make_group_by_window(in, mod, group, 2).value(), 4),
            "data_loss: flat_map: group_by_window: the data is not what it was when the position "
            "was saved");
  const auto two = traced(
    in, [](expr x) { return make_range(x.node(), (x + 2).node(), scalar_constant(1)).value(); });
  EXPECT_EQ(why(make_flat_map(in, two).value(), 9),
            "data_loss: flat_map: map: text_lines: 'F/lines' ends before offset 8, where the saved "
            "position is: it is not what it was");
  EXPECT_EQ(why(make_interleave(in, two, 3, 1).value(), 5),
            "data_loss: interleave: there are fewer rows than when the position was saved");
  const auto windows = make_window(in, 3, 1).value();
  const auto inside = traced(windows, [](dataset_ptr w) { return w; });
  EXPECT_EQ(why(make_flat_map(windows, inside).value(), 5),
            "data_loss: flat_map: there are fewer rows than when the position was saved");
}

} // namespace
} // namespace headrace::detail
