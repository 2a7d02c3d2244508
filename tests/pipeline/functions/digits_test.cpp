#include "tests/pipeline/functions/support.hpp"
#include "tests/support/paths.hpp"

#include <cstring>
#include <fstream>
#include <sstream>

namespace headrace::detail {
namespace {

using namespace test;

/// The records of a plain TFRecord file: a length, its checksum, the bytes, their checksum.
std::vector<std::string> shard_records(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  std::vector<std::string> out;
  uint64_t length = 0;
  while (in.read(reinterpret_cast<char*>(&length), sizeof length)) {
    in.ignore(4);
    std::string record(length, '\0');
    in.read(record.data(), static_cast<std::streamsize>(length));
    in.ignore(4);
    out.push_back(std::move(record));
  }
  return out;
}

/// The lines of a file of comma-separated integers, without the heading.
std::vector<std::vector<int64_t>> table_of(const std::string& path) {
  std::ifstream in{path};
  std::string line;
  std::getline(in, line);
  std::vector<std::vector<int64_t>> out;
  while (std::getline(in, line)) {
    out.emplace_back();
    std::istringstream cells{line};
    for (std::string cell; std::getline(cells, cell, ',');) out.back().push_back(std::stoll(cell));
  }
  return out;
}

TEST(Digits, ExamplesThatTensorFlowWroteAreReadRight) {
  const auto folder = test::data_path("digits/");
  const auto table = table_of(folder + "digits.csv");
  ASSERT_EQ(table.size(), 1797u);
  size_t seen = 0;
  for (size_t shard = 0; shard < 4; ++shard) {
    const auto records =
      shard_records(folder + "digits-0000" + std::to_string(shard) + "-of-00004.tfrecord");
    auto out = apply({texts(records)}, [](expr record) {
      auto r = io::parse_example(record, {io::fixed_len_feature("image", {}, dtype::string),
                                          io::fixed_len_feature("label", {}, dtype::int64)});
      auto pixels = reshape(io::decode_raw<uint8_t>(r["image"]), {64});
      return std::tuple{cast<float>(pixels) / 16.0f, r["label"]};
    });
    ASSERT_TRUE(out.errors.empty()) << out.errors[0].why.message();
    for (size_t r = 0; r < records.size(); ++r, ++seen) {
      const auto& wanted = table[shard + 4 * r];
      ASSERT_EQ(out.columns[1].values<int64_t>()[r], wanted[64]);
      for (size_t p = 0; p < 64; ++p)
        ASSERT_EQ(out.columns[0].values<float>()[r * 64 + p], static_cast<float>(wanted[p]) / 16);
    }
  }
  EXPECT_EQ(seen, table.size());
}

} // namespace
} // namespace headrace::detail
