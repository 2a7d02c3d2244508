#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/pipeline/types/spec.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstddef>
#include <string_view>
#include <vector>

namespace headrace::detail::python {

/// Reads the rows that a process of the pool has written (headrace/_processes/pool_process.py).
/// That process ran user code: all its output is checked, and none of it is executed.
///
/// The format, with sizes in bytes: the number of the request (8) and the number of rows (4), which
/// are not read here; then the rows. An error row is a status code (1), a length (4) and a text in
/// UTF-8. A row that did not fail is a zero (1), and for each component the rank (1), the extents
/// (8 each) and the values: numbers of the declared dtype as they are in memory, or strings, each
/// after its length (8). Integers are little-endian and unsigned.
class pool_answer {
public:
  static constexpr size_t header_bytes = 12;

  /// `bytes` and `declared` must outlive this object.
  pool_answer(std::string_view bytes, const std::vector<tensor_spec>& declared);

  /// Reads the next row and appends its values to the builders, one for each component. If it
  /// returns an error, the builders are unchanged. The error is `unknown`, `invalid_argument`,
  /// `resource_exhausted` or `unimplemented` if the row failed in the process, and `data_loss` if
  /// the bytes are no row of the declared specs; after `data_loss` no further row can be read.
  status next(std::vector<detail::column_builder>& to);

private:
  struct value {
    shape dims;
    size_t count = 0;
    std::string_view bytes; ///< the bytes of all values, for strings with their lengths
  };
  status read_row();
  status read_values(const tensor_spec& spec, value& into);
  bool take(size_t count, std::string_view& into);
  bool take_number(size_t bytes, uint64_t& into);

  std::string_view rest_;
  const std::vector<tensor_spec>& declared_;
  std::vector<value> row_;
  bool broken_ = false;
};

} // namespace headrace::detail::python
