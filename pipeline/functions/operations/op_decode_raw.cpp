#include "headrace/pipeline/functions/operations/ops.hpp"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The number of bytes whose order depends on endianness: the bytes of a value, or of one of the
/// two parts of a complex number.
size_t ordered_bytes(dtype type) { return is_complex(type) ? size_of(type) / 2 : size_of(type); }

void reverse_parts(std::byte* bytes, size_t n, size_t part) {
  for (; n != 0; n -= part, bytes += part) std::reverse(bytes, bytes + part);
}

shape with_trailing(const shape& row, int64_t extent) {
  std::vector<int64_t> dims{row.dims().begin(), row.dims().end()};
  dims.push_back(extent);
  return shape{std::move(dims)};
}

/// The length of the strings `[first, last)`, if it is the same for all (0 if there are none); else
/// nullopt.
std::optional<int64_t> common_length(const column& in, int64_t first, int64_t last) {
  const auto ends = in.border_buffer().as<int64_t>();
  if (first == last)
    return 0;
  const auto at = static_cast<size_t>(first);
  const auto length = ends[at + 1] - ends[at];
  for (auto i = at + 1; i < static_cast<size_t>(last); ++i)
    if (ends[i + 1] - ends[i] != length)
      return std::nullopt;
  return length;
}

} // namespace

column run_decode_raw(const op_call& call) {
  const auto& in = *call.inputs[0].data;
  const auto type = call.node.spec.type;
  const auto size = static_cast<int64_t>(size_of(type));
  const auto part = ordered_bytes(type);
  const bool little = call.node.attrs.flag || part == 1;
  const bool swap = little != (std::endian::native == std::endian::little) && part != 1;
  const auto ends = in.border_buffer().as<int64_t>();
  const auto* bytes = in.value_buffer().data() - in.byte_base();
  const auto all = in.is_dense() ? common_length(in, 0, in.total_values()) : std::nullopt;
  if (all && *all % size == 0) {
    // If all strings have one length, their bytes are in memory as the values of the result must
    // be.
    const auto n = static_cast<size_t>(*all * in.total_values());
    const auto* from = n == 0 ? nullptr : bytes + ends[0];
    const bool aligned = reinterpret_cast<uintptr_t>(from) % part == 0;
    auto dims = with_trailing(in.row_shape(), *all / size);
    if (aligned && !swap)
      return column::dense(type, std::move(dims), call.rows,
                           buffer{in.value_buffer().owner(), from, n});
    mutable_buffer out{n};
    if (n != 0)
      std::memcpy(out.data(), from, n);
    if (swap)
      reverse_parts(out.data(), n, part);
    return column::dense(type, std::move(dims), call.rows, std::move(out).freeze());
  }
  column_builder out{type, call.rows};
  const auto nothing = shape_of_nothing(call.node.spec, in.rank() + 1);
  for (size_t r = 0; r < call.rows; ++r) {
    if (call.skips(r)) {
      out.end_row_of_nothing(nothing);
      continue;
    }
    const auto first = in.first_value(r), last = in.first_value(r + 1);
    const auto length = common_length(in, first, last);
    if (!length || *length % size != 0) {
      call.fail(r, length ? invalid_argument(
                     fmt::format("a string of {} bytes does not hold {} values, which take {} each",
                                 *length, to_string(type), size))
                          : invalid_argument("the row's strings differ in length"));
      out.end_row_of_nothing(nothing);
      continue;
    }
    const auto n = static_cast<size_t>((last - first) * *length);
    auto* to = out.extend(n / static_cast<size_t>(size));
    if (n != 0)
      std::memcpy(to, bytes + ends[static_cast<size_t>(first)], n);
    if (swap)
      reverse_parts(to, n, part);
    out.end_row(with_trailing(in.shape_of(r), *length / size));
  }
  return std::move(out).finish();
}

} // namespace headrace::detail
