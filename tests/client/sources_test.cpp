#include "headrace/client/headrace.hpp"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Sources : public testing::Test {
protected:
  Sources() {
    auto name = (std::filesystem::temp_directory_path() / "headrace-test-XXXXXX").string();
    folder_ = ::mkdtemp(name.data());
  }
  ~Sources() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream{folder_ / name, std::ios::binary} << bytes;
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

std::vector<std::string> one(const std::string& name) { return {name}; }

std::vector<int64_t> sorted(const dataset& from, std::string_view name) {
  std::vector<int64_t> out;
  for (const element& x : from) out.push_back(x[name].scalar<int64_t>());
  std::sort(out.begin(), out.end());
  return out;
}

TEST_F(Sources, WorkersShareTheFilesOfTables) {
  std::vector<std::string> tables, lines;
  std::vector<int64_t> want;
  for (int file = 0; file < 5; ++file) {
    std::string table = "id,name\n", line;
    for (int i = 0; i < 1000; ++i) {
      want.push_back(file * 1000 + i);
      table += fmt::format("{},\"n{}\"\n", want.back(), i);
      line += fmt::format("{{\"name\": \"n{}\", \"id\": {}}}\n", i, want.back());
    }
    tables.push_back(write(fmt::format("{}.csv", file), table));
    lines.push_back(write(fmt::format("{}.jsonl", file), line));
  }
  const std::vector<field_format> fields{field("id", dtype::int64), field("name", dtype::string)};
  local_cluster cluster{{.workers = 2}};
  const distribute shared{
    {.processing_mode = sharding_policy::dynamic, .service = cluster.target()}};
  EXPECT_EQ(sorted(dataset::csv(tables, fields, {.header = true}).apply(shared), "id"), want);
  EXPECT_EQ(sorted(dataset::json_lines(lines, fields).apply(shared), "id"), want);
}

TEST_F(Sources, WorkersShareTheRecordsOfOneFileAndNumbersWithoutEnd) {
  std::string bytes;
  std::vector<std::string> want;
  for (int i = 0; i < 20'000; ++i) {
    want.push_back(fmt::format("{:05}", i));
    bytes += want.back();
  }
  local_cluster cluster{{.workers = 2}};
  const distribute shared{
    {.processing_mode = sharding_policy::dynamic, .service = cluster.target()}};
  std::vector<std::string> got;
  for (const element& x :
       dataset::fixed_length(one(write("records", bytes)), {.record_bytes = 5}).apply(shared))
    got.emplace_back(x[0].string());
  std::sort(got.begin(), got.end());
  EXPECT_EQ(got, want);

  std::vector<int64_t> numbers;
  for (const element& x : dataset::counter().apply(shared).take(1000))
    numbers.push_back(x[0].scalar<int64_t>());
  std::sort(numbers.begin(), numbers.end());
  EXPECT_EQ(std::unique(numbers.begin(), numbers.end()), numbers.end());
}

TEST_F(Sources, WhatWasWrittenIsReadAgain) {
  const auto path = (folder_ / "out").string();
  auto words = dataset::from_tensor_slices(constant(std::vector<std::string>{"a", "", "c"}));
  EXPECT_EQ(write_tfrecord(words, path, {.compression = file_compression::gzip}).value(), 3u);
  std::vector<std::string> got;
  for (const element& x : dataset::tfrecord(one(path), {.compression = file_compression::gzip}))
    got.emplace_back(x[0].string());
  EXPECT_THAT(got, ElementsAre("a", "", "c"));
}

TEST_F(Sources, AFailedElementLeavesTheFileAsItWas) {
  const auto path = write("out", "before");
  auto broken =
    dataset::text_lines(std::vector<std::string>{write("lines", "a\nb\n"), "/nowhere/x"});
  EXPECT_THAT(to_string(write_tfrecord(broken, path).status()),
              HasSubstr("not_found: write_tfrecord '" + path + "': text_lines: cannot open"));
  std::string kept;
  std::ifstream{path} >> kept;
  EXPECT_EQ(kept, "before");
  EXPECT_THAT(to_string(write_tfrecord(dataset::range(3), path).status()),
              HasSubstr("the elements are int64[]; they must be string scalars"));
  EXPECT_THAT(to_string(write_tfrecord(dataset::text_lines(one(path)).repeat(), path).status()),
              HasSubstr("never ends"));
}

} // namespace
} // namespace headrace::detail
