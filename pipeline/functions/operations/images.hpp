#pragma once

#include "headrace/pipeline/functions/representation/value.hpp"
#include "headrace/runtime/base/result.hpp"

/// Helpers of the functions of images. An image is [height, width, channels], and several images
/// are [images, height, width, channels].
namespace headrace::detail {

/// An error if a tensor of spec `x` cannot be an image, or several images.
status check_image(const tensor_spec& x);
/// An error unless `dims` are a height and a width that an image can have.
status check_extents(const std::vector<int64_t>& dims);

/// The shape `image` with another height and width.
shape with_extents(const shape& image, int64_t height, int64_t width);

/// The number of images in one row, and the extents of each.
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

/// The largest extents that have the aspect ratio of the input and fit in the given extents, before
/// they are made integers.
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

/// If the node `resize` resizes images while they are decoded, returns their `decode_image` node;
/// then `resize` has the operands of that node. Returns null for other nodes.
inline const expr_node* decoder_of(const expr_node& resize) noexcept {
  return static_cast<const expr_node*>(resize.prepared.get());
}

/// The values of row `r`.
const std::byte* row_bytes(const operand& in, size_t r);

} // namespace headrace::detail
