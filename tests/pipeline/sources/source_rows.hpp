#pragma once

#include "tests/pipeline/support/rows.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace headrace::detail::test {

inline expr_ptr files(std::vector<std::string> names) { return string_constant(names); }

/// All rows. Checks that they are the same in blocks of 1, 7 and 1000 rows, and after a save and a
/// restore at some of the first 24 rows.
inline std::vector<std::string>
rows_of(const dataset_ptr& graph, const iterator_context& context = {}, size_t most = 100000) {
  const auto start = [&] { return make_iterator(graph, context).value(); };
  const auto want = read_all(*start(), always(1000), most);
  for (size_t rows : {1, 7}) EXPECT_EQ(read_all(*start(), always(rows), most), want) << rows;
  for (size_t stop = 0; stop <= std::min<size_t>(want.size(), 30); stop += stop < 10 ? 1 : 7) {
    auto first = start();
    auto rows = read_all(*first, always(3), stop);
    auto second = start();
    const auto restored = second->restore(*first->save());
    EXPECT_TRUE(restored.ok()) << to_string(restored);
    for (auto& row : read_all(*second, always(5), most - rows.size()))
      rows.push_back(std::move(row));
    EXPECT_EQ(rows, want) << "after row " << stop;
  }
  return want;
}

/// The bytes, compressed by zlib. `window_bits`: 15 + 16 for the format GZIP, 15 for ZLIB.
inline std::string pack(const std::string& bytes, int window_bits) {
  z_stream z{};
  deflateInit2(&z, 9, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&z, bytes.size()) + 64, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  z.avail_in = static_cast<uInt>(bytes.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(z.total_out);
  deflateEnd(&z);
  return out;
}

} // namespace headrace::detail::test
