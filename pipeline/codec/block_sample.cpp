#include "headrace/pipeline/codec/block_sample.hpp"

#include <algorithm>
#include <snappy.h>
#include <string>

namespace headrace::detail {

namespace {

constexpr size_t sample_bytes = size_t{64} << 10;

/// The bytes of the values of this column's rows; the column's buffer may contain more.
buffer value_bytes(const column& c) {
  const auto values = static_cast<size_t>(c.total_values());
  if (!c.is_string())
    return c.value_buffer().slice(0, values * size_of(c.type()));
  const auto borders = c.border_buffer().as<int64_t>();
  return c.value_buffer().slice(static_cast<size_t>(borders[0] - c.byte_base()),
                                static_cast<size_t>(borders[values] - borders[0]));
}

} // namespace

double sampled_share(const block& rows) {
  const auto total = rows.bytes();
  size_t plain = 0, packed = 0;
  std::string out;
  for (const auto& c : rows.columns) {
    const auto bytes = value_bytes(c);
    // Each column contributes values from its middle, because its first rows may be unusual. The
    // number of bytes is in proportion to the size of the column.
    const auto wanted =
      total <= sample_bytes
        ? bytes.size()
        : static_cast<size_t>(static_cast<double>(sample_bytes) * static_cast<double>(bytes.size())
                              / static_cast<double>(total));
    const auto part = bytes.slice((bytes.size() - wanted) / 2, wanted);
    plain += part.size();
    packed += snappy::Compress(reinterpret_cast<const char*>(part.data()), part.size(), &out);
  }
  return plain == 0 ? 1 : static_cast<double>(packed) / static_cast<double>(plain);
}

} // namespace headrace::detail
