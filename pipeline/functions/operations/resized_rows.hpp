#pragma once

#include "headrace/pipeline/functions/operations/image_resizer.hpp"

namespace headrace::detail {

/// Receives the images of a column while they are resized, row by row. For a row that is skipped or
/// fails, `end_row` may be called without `begin` before.
class resized_rows : public resized_lines {
public:
  /// Called when row `r` is complete, or has no value.
  virtual void end_row(size_t r, bool has_value) = 0;
};

/// Runs a call of `resize_image` whose method is not nearest.
void resize_rows(const op_call& call, resized_rows& to);

} // namespace headrace::detail
