#include "headrace/pipeline/functions/io.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/paths.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sstream>

namespace headrace::detail {
namespace {

using test::traced;

// Pixels and label of each line of digits.csv.
std::vector<std::vector<int64_t>> from_csv() {
  std::istringstream lines{test::read_file(test::data_path("digits/digits.csv"))};
  std::vector<std::vector<int64_t>> out;
  std::string line;
  std::getline(lines, line); // the names of the columns
  while (std::getline(lines, line)) {
    auto& row = out.emplace_back();
    std::istringstream cells{line};
    for (std::string cell; std::getline(cells, cell, ',');) row.push_back(std::stoll(cell));
  }
  return out;
}

TEST(Digits, ThatTensorFlowWroteHoldTheTablesNumbers) {
  const auto want = from_csv();
  ASSERT_EQ(want.size(), 1797u);
  for (size_t shard = 0; shard < 4; ++shard) {
    auto files = std::vector<std::string>{
      test::data_path(fmt::format("digits/digits-0000{}-of-00004.tfrecord", shard))};
    auto records = make_tfrecord(string_constant(files)).value();
    auto parse = traced(records, [](expr x) {
      auto r = io::parse_example(x, {io::fixed_len_feature("image", {}, dtype::string),
                                     io::fixed_len_feature("label", {}, dtype::int64)});
      return std::pair{reshape(io::decode_raw(r["image"], dtype::uint8), {64}), r["label"]};
    });
    auto graph = make_map(records, parse, static_cast<int64_t>(shard)).value();
    iterator_context context;
    auto from = make_iterator(graph, context).value();
    auto number = shard; // record r is in shard r mod 4
    while (auto rows = from->next({.rows = 100})) {
      ASSERT_TRUE(rows->errors.empty()) << to_string(rows->errors[0].why);
      const auto pixels = rows->columns[0].values<uint8_t>();
      for (size_t i = 0; i < rows->rows; ++i, number += 4) {
        ASSERT_LT(number, want.size());
        std::vector<int64_t> got(pixels.begin() + static_cast<std::ptrdiff_t>(i * 64),
                                 pixels.begin() + static_cast<std::ptrdiff_t>((i + 1) * 64));
        got.push_back(rows->columns[1].values<int64_t>()[i]);
        ASSERT_EQ(got, want[number]) << "digit " << number;
      }
    }
    EXPECT_GE(number, want.size());
  }
}

} // namespace
} // namespace headrace::detail
