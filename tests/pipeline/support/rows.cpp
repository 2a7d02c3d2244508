#include "tests/pipeline/support/rows.hpp"

#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>

namespace headrace::detail::test {

namespace {

std::string value_text(const column& c, size_t i) {
  if (c.is_string())
    return fmt::format("'{}'", c.string(i));
  return visit_plain(c.type(), [&]<class T>(T) -> std::string {
    const auto x = c.values<T>()[i];
    if constexpr (std::is_arithmetic_v<T>)
      return fmt::format("{}", +x);
    else
      return "?";
  });
}

void check(const block& rows, size_t wanted) {
  ASSERT_GE(rows.rows, 1u);
  ASSERT_LE(rows.rows, wanted);
  for (const auto& c : rows.columns) ASSERT_EQ(c.rows(), rows.rows);
  for (size_t i = 0; i < rows.errors.size(); ++i) {
    ASSERT_LT(rows.errors[i].row, rows.rows);
    ASSERT_TRUE(i == 0 || rows.errors[i - 1].row < rows.errors[i].row);
  }
  size_t covered = 0;
  for (const auto& run : rows.origins) covered += run.rows;
  ASSERT_TRUE(rows.origins.empty() || covered == rows.rows);
}

} // namespace

std::string row_text(const block& rows, size_t row) {
  if (const auto* why = rows.error_at(row))
    return "!" + to_string(*why);
  std::string out;
  for (const auto& c : rows.columns) {
    out += out.empty() ? "" : "|";
    const auto dims = c.shape_of(row);
    const auto first = static_cast<size_t>(c.first_value(row));
    if (dims.is_scalar()) {
      out += value_text(c, first);
      continue;
    }
    out += to_string(dims) + "{";
    for (size_t i = 0; i < static_cast<size_t>(*dims.elements()); ++i)
      out += (i == 0 ? "" : " ") + value_text(c, first + i);
    out += "}";
  }
  return out;
}

named_function find_function(const function_reference& what) {
  if (what.name != "triple")
    return {};
  return [](const block& in) -> result<block> {
    std::vector<int64_t> out;
    for (auto row : in.columns[0].values<int64_t>())
      if (row < 50)
        out.push_back(3 * row);
    block rows;
    rows.rows = out.size();
    rows.columns.push_back(column::of_scalars(std::span<const int64_t>{out}));
    return rows;
  };
}

std::vector<std::string> read_all(iterator& from, const asking& rows, size_t most) {
  std::vector<std::string> out;
  while (out.size() < most) {
    const auto wanted = std::min(rows(), most - out.size());
    auto more = from.next({.rows = wanted});
    if (!more)
      break;
    check(*more, wanted);
    if (testing::Test::HasFatalFailure())
      break;
    for (size_t i = 0; i < more->rows; ++i) out.push_back(row_text(*more, i));
  }
  return out;
}

std::vector<std::string> read_all(const dataset_ptr& graph, const asking& rows, size_t most) {
  iterator_context context;
  context.find_function = find_function;
  return read_all(*make_iterator(graph, context).value(), rows, most);
}

std::vector<int64_t> read_numbers(const dataset_ptr& graph, const asking& rows, size_t most) {
  iterator_context context;
  auto from = make_iterator(graph, context).value();
  std::vector<int64_t> out;
  while (out.size() < most) {
    auto more = from->next({.rows = rows(), .bytes = size_t{1} << 20});
    if (!more)
      break;
    if (!more->errors.empty())
      throw error{more->errors[0].why};
    for (auto x : more->columns[0].values<int64_t>()) out.push_back(x);
  }
  return out;
}

dataset_ptr range(int64_t start, int64_t stop, int64_t step) {
  return make_range(start, stop, step).value();
}

result<split_answer> scripted_splits::next(uint32_t source, uint64_t pass,
                                           std::optional<uint64_t> total,
                                           const std::shared_ptr<const split_listing>&) {
  log.push_back({source, pass, total});
  for (auto at = script.begin(); at != script.end(); ++at)
    if (at->source == source && at->pass == pass) {
      auto out = at->range;
      script.erase(at);
      return out;
    }
  return split_answer{ends};
}

std::vector<std::string> origins_of(const block& rows) {
  std::vector<std::string> out;
  for (size_t i = 0; i < rows.rows && !rows.origins.empty(); ++i) {
    const auto at = origin_of(rows.origins, i);
    out.push_back(fmt::format("{}/{}/{}", at.source, at.pass, at.split));
  }
  return out;
}

scratch_folder::scratch_folder() {
  auto name = (std::filesystem::temp_directory_path() / "headrace-test-XXXXXX").string();
  if (!::mkdtemp(name.data()))
    throw std::runtime_error("no temporary folder");
  path_ = name;
}

scratch_folder::~scratch_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string scratch_folder::write(const std::string& name, std::string_view bytes) const {
  auto path = path_ + "/" + name;
  std::ofstream{path, std::ios::binary}.write(bytes.data(),
                                              static_cast<std::streamsize>(bytes.size()));
  return path;
}

std::string read_file(const std::string& path) {
  std::ifstream in{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{in}, {}};
}

} // namespace headrace::detail::test
