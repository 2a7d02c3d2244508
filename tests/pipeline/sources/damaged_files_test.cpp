#include "headrace/pipeline/files/tfrecord_writer.hpp"
#include "headrace/pipeline/storage/saved_writer.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/pipeline/support/tar.hpp"

#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>

// The error messages for files that are damaged, truncated or of another format.

namespace headrace::detail {
namespace {

class DamagedFiles : public ::testing::Test {
protected:
  expr_ptr file(const std::string& name) const {
    return string_constant(std::vector{folder_.path() + "/" + name});
  }
  expr_ptr write(const std::string& bytes) {
    folder_.write("x", bytes);
    return file("x");
  }
  std::string records(int64_t count, file_compression compression = file_compression::none) {
    const auto path = folder_.path() + "/records";
    auto to = tfrecord_writer::open(path, {.compression = compression}).value();
    for (int64_t i = 0; i < count; ++i) EXPECT_EQ(to.write(fmt::format("record {}", i)), status{});
    EXPECT_EQ(to.finish(), status{});
    return test::read_file(path);
  }
  static std::string changed(std::string bytes, size_t at) {
    bytes[at] = static_cast<char>(bytes[at] ^ 4);
    return bytes;
  }
  static std::string cut(const std::string& bytes, size_t by) {
    return bytes.substr(0, bytes.size() - by);
  }
  /// The last row, which should have failed, or the error of making the dataset or its iterator.
  std::string why(const result<dataset_ptr>& graph) {
    auto out = to_string(graph.status());
    if (graph) {
      const iterator_context context;
      auto from = make_iterator(*graph, context);
      const auto rows = from ? test::read_all(**from) : std::vector{to_string(from.status())};
      out = rows.empty() ? "no rows" : rows.back();
    }
    for (size_t at; (at = out.find(folder_.path())) != std::string::npos;)
      out.replace(at, folder_.path().size(), "F");
    return out;
  }
  const std::string& path() const { return folder_.path(); }

private:
  test::scratch_folder folder_;
};

TEST_F(DamagedFiles, OfRecords) {
  const auto whole = records(3), packed = records(3, file_compression::gzip);
  EXPECT_EQ(why(make_tfrecord(write(changed(whole, 0)))),
            "!data_loss: tfrecord: 'F/x': the length of the record at offset 0 does not match its "
            "checksum");
  EXPECT_EQ(
    why(make_tfrecord(write(changed(whole, 14)))),
    "!data_loss: tfrecord: 'F/x': the data of the record at offset 0 does not match its checksum");
  EXPECT_EQ(
    why(make_tfrecord(write(cut(whole, 5)))),
    "!data_loss: tfrecord: 'F/x' ends in the middle of the data of the record at offset 48");
  EXPECT_EQ(
    why(make_tfrecord(write(whole + "abc"))),
    "!data_loss: tfrecord: 'F/x' ends in the middle of the length of the record at offset 72");
  EXPECT_EQ(why(make_tfrecord(write(cut(packed, 3)), file_compression::gzip)),
            "!data_loss: tfrecord: 'F/x' ends in the middle of its compressed data, at offset 52");
  EXPECT_EQ(why(make_tfrecord(write(whole), file_compression::gzip)),
            "!data_loss: tfrecord: 'F/x' holds damaged GZIP data near offset 10");
  EXPECT_EQ(why(make_tfrecord(write(whole), file_compression::zlib)),
            "!data_loss: tfrecord: 'F/x' holds damaged ZLIB data near offset 2 (wrong checksum)");
  EXPECT_EQ(why(make_tfrecord(string_constant(std::vector{path()}))),
            "!failed_precondition: tfrecord: cannot read 'F': Is a directory");
  const auto shuffled = [&](const std::string& bytes) {
    return why(make_global_shuffle(make_tfrecord(write(bytes)).value(), 1));
  };
  EXPECT_EQ(shuffled(changed(whole, 0)), "data_loss: global_shuffle: 'F/x': the length of the "
                                         "record at offset 0 does not match its checksum");
  EXPECT_EQ(
    shuffled(cut(whole, 5)),
    "data_loss: global_shuffle: 'F/x' ends in the middle of the data of the record at offset 48");
  EXPECT_EQ(
    shuffled(whole + "abc"),
    "data_loss: global_shuffle: 'F/x' ends in the middle of the length of the record at offset 72");
  EXPECT_EQ(
    why(make_fixed_length(write("012345"), {3, 1, 0})),
    "!invalid_argument: fixed_length: 'F/x' has 6 bytes; without header (1) and footer (0) they "
    "are 1 records of 3 bytes and 2 bytes more");
  EXPECT_EQ(
    why(make_fixed_length(write("0123456"), {3, 5, 5})),
    "!invalid_argument: fixed_length: 'F/x' has 7 bytes; header (5) and footer (5) alone take 10");
}

TEST_F(DamagedFiles, OfTables) {
  const std::vector columns{field("n", dtype::int64)};
  const auto csv = [&](const std::string& text) {
    return why(make_csv(write(text), columns, {.header = true}));
  };
  EXPECT_EQ(csv("m\n1\n"), "!not_found: csv: 'F/x' line 1: the header has no column 'n'; it has m");
  EXPECT_EQ(csv("n,n\n1,2\n"),
            "!invalid_argument: csv: 'F/x' line 1: the header has two columns 'n'");
  EXPECT_EQ(csv("n,m\n1\n"),
            "!invalid_argument: csv: 'F/x' line 2: there are 1 fields; there must be 2");
  EXPECT_EQ(csv("n\nten\n"), "!invalid_argument: csv: 'F/x' line 2: column 'n': 'ten' is no int64");
  EXPECT_EQ(csv("n\n\"1\n"),
            "!invalid_argument: csv: 'F/x' line 2: column 'n': the file ends within quotes");
  EXPECT_EQ(csv("n\n\"1\"2\n"),
            "!invalid_argument: csv: 'F/x' line 2: column 'n': text after the closing quote");
  const auto json = [&](const std::string& text) {
    return why(make_json_lines(write(text), columns));
  };
  EXPECT_EQ(json("{\"n\": 1"),
            "!invalid_argument: json_lines: 'F/x' line 1: no JSON: The JSON document has an "
            "improper structure: missing or superfluous commas, braces, missing keys, etc.");
  EXPECT_EQ(json("{\"m\": 1}"), "!invalid_argument: json_lines: 'F/x' line 1: key 'n': it is "
                                "missing, and has nothing to stand in");
  EXPECT_EQ(
    json("{\"n\": \"one\"}"),
    "!invalid_argument: json_lines: 'F/x' line 1: key 'n': \"one\" is a string, not an integer");
  EXPECT_EQ(json("[1]"),
            "!invalid_argument: json_lines: 'F/x' line 1: [1] is an array, not an object");
  const auto sql = [&](const std::string& query) {
    return why(make_sql("sqlite", expr{path() + "/x"}.node(), expr{query}.node(), columns));
  };
  write(
    "no database, but a text that is long enough to be told from an empty one by its first bytes");
  EXPECT_EQ(sql("select n from t"),
            "!data_loss: sql: cannot prepare the query for 'F/x': file is not a database");
  write("");
  EXPECT_EQ(sql("select n from t"),
            "!invalid_argument: sql: cannot prepare the query for 'F/x': no such table: t");
  EXPECT_EQ(sql("select 1, 2"),
            "!invalid_argument: sql: the query on 'F/x' gives 2 columns, 1 are described");
  EXPECT_EQ(sql("select 'one'"),
            "!invalid_argument: sql: 'F/x' row 1: column ''one'': text (one) is no int64");
  EXPECT_EQ(sql("select 1; select 2"),
            "!invalid_argument: sql: the query goes on after its end, with 'select 2'");
}

TEST_F(DamagedFiles, OfArchives) {
  const auto whole = test::tar_member("a.txt", "one") + test::tar_member("b.txt", "two");
  const auto tar = [&](const std::string& bytes) {
    return why(make_tar_samples(write(bytes), {"txt"}));
  };
  EXPECT_EQ(tar(whole), "!data_loss: tar_samples: 'F/x' ends without a mark of its end, at "
                        "unpacked offset 2048: it was cut");
  EXPECT_EQ(tar(cut(whole, 600)), "!data_loss: tar_samples: 'F/x' is damaged or no tar archive, at "
                                  "unpacked offset 1024: Truncated tar archive");
  EXPECT_EQ(tar(std::string(2000, 'x')),
            "!data_loss: tar_samples: 'F/x' is damaged or no tar archive, at unpacked offset 0: "
            "Unrecognized archive format");
  EXPECT_EQ(tar(test::tar_member("a.png", "one") + test::tar_end()),
            "!not_found: tar_samples: 'F/x' sample 'a': it has no 'txt', but png");
}

TEST_F(DamagedFiles, OfSavedElements) {
  const element_spec number{tensor_spec{dtype::int64, {}}};
  const auto folder = path() + "/saved";
  auto to = saved_writer::open(folder, number, {}).value();
  const std::vector<int64_t> xs{1, 2, 3};
  block rows;
  rows.rows = xs.size();
  rows.columns.push_back(column::of_scalars(std::span<const int64_t>{xs}));
  ASSERT_EQ(to->write(rows, 0), status{});
  const auto shard = folder + "/" + to->finish().value().shards[0].file;
  const auto put = [](const std::string& where, const std::string& bytes) {
    std::ofstream{where, std::ios::binary} << bytes;
  };
  const auto load = [&] {
    auto out = why(make_load(folder, number, 1, 3));
    const auto name = std::filesystem::path{shard}.filename().string();
    for (size_t at; (at = out.find(name)) != std::string::npos;) out.replace(at, name.size(), "S");
    return out;
  };
  const auto bytes = test::read_file(shard);
  put(shard, changed(bytes, bytes.size() / 2));
  EXPECT_EQ(load(),
            "!data_loss: load: 'F/saved/S': the record at offset 0 does not match its checksum");
  put(shard, cut(bytes, 1));
  EXPECT_EQ(load(), "!data_loss: load: 'F/saved/S' has 223 bytes; 224 were written: it is "
                    "truncated or another file");
  std::filesystem::remove(shard);
  EXPECT_EQ(load(), "!not_found: load: cannot open 'F/saved/S': No such file or directory");
  const auto manifest = folder + "/dataset.headrace", all = test::read_file(manifest);
  put(manifest, changed(all, all.size() / 2));
  EXPECT_EQ(load(), "data_loss: load: 'F/saved/dataset.headrace': the record at offset 0 does not "
                    "match its checksum");
  put(manifest, cut(all, 1));
  EXPECT_EQ(
    load(),
    "data_loss: load: 'F/saved/dataset.headrace' ends in the middle of the record at offset 0");
}

} // namespace
} // namespace headrace::detail
