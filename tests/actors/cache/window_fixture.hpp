#pragma once

#include "headrace/actors/cache/cache_window.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

/// Blocks of rows of one number each, for tests of windows.
namespace headrace::detail::test {

/// The bytes that a block is charged in addition to its rows.
inline constexpr size_t overhead = 256;

/// `rows` rows, with the numbers from `first` on.
inline block rows_of(int64_t first, size_t rows) {
  std::vector<int64_t> xs(rows);
  std::iota(xs.begin(), xs.end(), first);
  block out;
  out.rows = rows;
  out.columns.push_back(column::of_scalars<int64_t>(xs));
  return out;
}

/// The bytes that a block of `rows` rows is charged.
inline size_t charge(size_t rows) { return 8 * rows + overhead; }

/// The numbers of the rows that were read; empty if the block was evicted.
inline std::vector<int64_t> values(const cache_window::reading& x) {
  const auto rows = x.rows->get();
  if (!rows)
    return {};
  const auto all = rows->columns[0].values<int64_t>();
  return {all.begin() + static_cast<long>(x.from), all.end()};
}

/// A window that is alone in its store, and the time.
struct fixture {
  explicit fixture(size_t budget, std::optional<duration> wait = {},
                   duration lease = std::chrono::seconds{5})
    : store(window_store::make(budget)), window(store, {.wait = wait, .lease = lease}) {}

  cache_window::outcome append(size_t rows) {
    const auto out = window.append(rows_of(static_cast<int64_t>(window.span().end), rows), now);
    EXPECT_LE(store->bytes(), store->budget());
    return out;
  }
  /// Reads all rows that the window has for the trainer `id`, and hands them out.
  std::vector<int64_t> read_all(const std::string& id) {
    std::vector<int64_t> out;
    while (const auto x = window.read(id))
      for (auto v : values(*x)) out.push_back(v);
    window.handed_out_all(id);
    return out;
  }

  std::shared_ptr<window_store> store;
  cache_window window;
  time_point now{std::chrono::hours{1}};
};

} // namespace headrace::detail::test
