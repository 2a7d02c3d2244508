#pragma once

#include "headrace/pipeline/functions/operations/image_resizer.hpp"

namespace headrace::detail {

/// Where the images of a column go while they are resized, row by row. A row that is skipped or
/// fails only ends, or began before.
class resized_rows : public resized_lines {
public:
  /// Row `r` is complete, or has no value.
  virtual void end_row(size_t r, bool has_value) = 0;
};

/// Runs a call of `resize_image` by one of the methods that blend lines.
void resize_rows(const op_call& call, resized_rows& to);

} // namespace headrace::detail
