#include "headrace/pipeline/operators/batches/packed_column.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

constexpr size_t word_bytes = sizeof(uint64_t);
constexpr uint64_t most_rank = 64;
constexpr uint64_t most_packed_bytes = uint64_t{1} << 30;

void put_bytes(position& to, const std::byte* data, size_t size) {
  for (size_t i = 0; i < size; i += word_bytes) {
    uint64_t packed = 0;
    std::memcpy(&packed, data + i, std::min(word_bytes, size - i));
    to.numbers.push_back(packed);
  }
}

// The buffer grows with the bytes that are read, so that no memory is allocated for a wrong `size`
// in a damaged position.
std::optional<buffer> read_bytes(position_reader& from, uint64_t size) {
  buffer_builder out;
  for (uint64_t i = 0; i < size; i += word_bytes) {
    const auto packed = from.number();
    if (!from.fits())
      return std::nullopt;
    out.append(&packed, static_cast<size_t>(std::min<uint64_t>(word_bytes, size - i)));
  }
  return out.finish();
}

} // namespace

void put(position& to, const column& c) {
  const auto dims = c.shape_of(0);
  to.numbers.push_back(dims.rank());
  for (auto extent : dims.dims()) to.numbers.push_back(static_cast<uint64_t>(extent));
  const auto values = static_cast<size_t>(c.total_values());
  if (!c.is_string())
    return put_bytes(to, c.value_buffer().data(), values * size_of(c.type()));
  std::string all;
  for (size_t i = 0; i < values; ++i) {
    to.numbers.push_back(c.string(i).size());
    all += c.string(i);
  }
  put_bytes(to, reinterpret_cast<const std::byte*>(all.data()), all.size());
}

std::optional<column> read_column(position_reader& from, const tensor_spec& spec) {
  std::vector<int64_t> extents(static_cast<size_t>(from.number(most_rank)));
  uint64_t values = 1;
  for (auto& extent : extents) {
    extent = static_cast<int64_t>(from.number(most_packed_bytes));
    if (__builtin_mul_overflow(values, static_cast<uint64_t>(extent), &values))
      return std::nullopt;
  }
  const shape dims{std::move(extents)};
  if (!from.fits() || !spec.dims.accepts(dims) || values > most_packed_bytes)
    return std::nullopt;
  if (spec.type != dtype::string) {
    auto bytes = read_bytes(from, values * size_of(spec.type));
    if (!bytes)
      return std::nullopt;
    return column::dense(spec.type, dims, 1, *std::move(bytes));
  }
  buffer_builder borders;
  uint64_t end = 0;
  borders.push_back(end);
  for (uint64_t i = 0; i < values; ++i) {
    end += from.number(most_packed_bytes);
    if (!from.fits() || end > most_packed_bytes)
      return std::nullopt;
    borders.push_back(end);
  }
  auto bytes = read_bytes(from, end);
  if (!bytes)
    return std::nullopt;
  return column::strings(dims, 1, borders.finish(), *std::move(bytes));
}

} // namespace headrace::detail
