#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/runtime/base/result.hpp"

/// What functions of images have in common: an image is [height, width, channels], and several
/// have an axis more in front.
namespace headrace::detail {

/// An error if there is no image of such a spec.
status check_image(const tensor_spec& x);
/// An error unless these are a height and a width that an image can have.
status check_extents(const std::vector<int64_t>& dims);

/// `image` with other extents.
shape with_extents(const shape& image, int64_t height, int64_t width);

/// Images of one row: how many, and the extents of each.
struct images {
  size_t count = 1, height = 0, width = 0, channels = 0;
  explicit images(const shape& row) {
    const auto at = [&](size_t from_end) {
      return static_cast<size_t>(row[row.rank() - from_end]);
    };
    count = row.rank() == 4 ? at(4) : 1;
    height = at(3);
    width = at(2);
    channels = at(1);
  }
  size_t values() const { return height * width * channels; }
};

/// The largest extents with the same aspect ratio that fit, not yet integers.
struct fitted {
  float height, width;
  fitted(int64_t height_in, int64_t width_in, int64_t most_height, int64_t most_width) {
    const auto h = static_cast<float>(height_in), w = static_cast<float>(width_in);
    const auto ratio =
      std::max(w / static_cast<float>(most_width), h / static_cast<float>(most_height));
    height = h / ratio;
    width = w / ratio;
  }
};

/// The node that decodes the images of `resize`, if it resizes them while they are decoded: its
/// operands are then those of that node.
inline const expr_node* decoder_of(const expr_node& resize) noexcept {
  return static_cast<const expr_node*>(resize.prepared.get());
}

/// The values of row `r`.
const std::byte* row_bytes(const operand& in, size_t r);

} // namespace headrace::detail
