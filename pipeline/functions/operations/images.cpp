#include "headrace/pipeline/functions/operations/images.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr int64_t most_pixels = int64_t{1} << 28;

} // namespace

status check_image(const tensor_spec& x) {
  if (x.type == dtype::string || x.type == dtype::boolean || is_complex(x.type))
    return invalid_argument(fmt::format("the image is {}; numbers are needed", to_string(x)));
  if (x.dims.has_rank() && x.dims.rank() != 3 && x.dims.rank() != 4)
    return invalid_argument(fmt::format("the image has shape {}; [height, width, channels] is "
                                        "needed, or a number of these",
                                        to_string(x.dims)));
  return {};
}

status check_extents(const std::vector<int64_t>& dims) {
  if (dims.size() != 2 || dims[0] < 1 || dims[1] < 1 || dims[0] > most_pixels
      || dims[1] > most_pixels || dims[0] * dims[1] > most_pixels)
    return invalid_argument(fmt::format("extents {}; height and width are needed, at least 1 each "
                                        "and at most {} pixels",
                                        to_string(shape{dims}), most_pixels));
  return {};
}

shape with_extents(const shape& image, int64_t height, int64_t width) {
  if (!image.has_rank())
    return image;
  std::vector<int64_t> dims{image.dims().begin(), image.dims().end()};
  dims[dims.size() - 3] = height;
  dims[dims.size() - 2] = width;
  return shape{std::move(dims)};
}

const std::byte* row_bytes(const operand& in, size_t r) {
  return in.data->value_buffer().data()
         + static_cast<size_t>(in.first_value(r)) * size_of(in.data->type());
}

} // namespace headrace::detail
