#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"

#include <cstring>

/// Functions that several files of operations use. Each function `run_*` is the member `run` of a
/// `library_function` that another file than its own defines.
namespace headrace::detail {

column run_compare(const op_call& call); ///< for strings
column run_where(const op_call& call);   ///< for strings
column run_gather(const op_call& call);
column run_decode_raw(const op_call& call);

/// Appends the values `[first, first + count)` of `from`.
inline void append_values(column_builder& out, const column& from, int64_t first, int64_t count) {
  if (from.is_string()) {
    for (auto i = first; i < first + count; ++i)
      out.add_string(from.string(static_cast<size_t>(i)));
  } else if (count != 0) {
    const auto size = size_of(from.type());
    const auto n = static_cast<size_t>(count);
    std::memcpy(out.extend(n), from.value_buffer().data() + static_cast<size_t>(first) * size,
                n * size);
  }
}

} // namespace headrace::detail
