#include "headrace/pipeline/functions/image.hpp"
#include "values.hpp"

namespace headrace::detail::python {

namespace {

using e = const expr&;

image::method method_of(const std::string& name) {
  if (name == "nearest")
    return image::method::nearest;
  if (name == "bicubic")
    return image::method::bicubic;
  return name == "area" ? image::method::area : image::method::bilinear;
}

dtype type_of(const std::string& name) { return parse_dtype(name).value(); }

} // namespace

/// Binds each function of images. Their public names and arguments, and their documentation, are in
/// headrace/image.py.
void bind_image_functions(nb::module_& m) {
  // files
  const auto transform_of = [](bool fast) {
    return fast ? image::jpeg_transform::fast : image::jpeg_transform::accurate;
  };
  m.def("decode_jpeg", [=](e contents, int64_t channels, int64_t ratio, bool fast) {
    return image::decode_jpeg(contents, channels, ratio, transform_of(fast));
  });
  m.def("decode_jpeg_at_least",
        [=](e contents, int64_t height, int64_t width, int64_t channels, bool fast) {
          return image::decode_jpeg_at_least(contents, height, width, channels, transform_of(fast));
        });
  // `function` is the name of the called function, for errors.
  m.def("decode_image", [=](const std::string& function, e contents, int64_t channels, bool fast,
                            const std::string& type) {
    return decode_image_as(function, contents, channels, transform_of(fast), type_of(type));
  });
  m.def("encode_jpeg", &image::encode_jpeg);
  m.def("encode_png", &image::encode_png);

  // extents
  m.def("resize", [](e x, int64_t height, int64_t width, const std::string& how,
                     bool preserve_aspect_ratio, bool antialias) {
    return image::resize(x, height, width, method_of(how), {preserve_aspect_ratio, antialias});
  });
  m.def("resize_with_pad",
        [](e x, int64_t height, int64_t width, const std::string& how, bool antialias) {
          return image::resize_with_pad(x, height, width, method_of(how), antialias);
        });
  m.def("resize_with_crop_or_pad", &image::resize_with_crop_or_pad);
  m.def("crop_to_bounding_box", &image::crop_to_bounding_box);
  m.def("pad_to_bounding_box", &image::pad_to_bounding_box);
  m.def("central_crop", &image::central_crop);
  m.def("flip_left_right", &image::flip_left_right);
  m.def("flip_up_down", &image::flip_up_down);
  m.def("image_transpose", &image::transpose);
  m.def("rot90", &image::rot90);

  // values
  m.def("convert_image_dtype", [](e x, const std::string& type, bool saturate) {
    return image::convert_image_dtype(x, type_of(type), saturate);
  });
  m.def("rgb_to_grayscale", &image::rgb_to_grayscale);
  m.def("grayscale_to_rgb", &image::grayscale_to_rgb);
  m.def("rgb_to_hsv", &image::rgb_to_hsv);
  m.def("hsv_to_rgb", &image::hsv_to_rgb);
  m.def("per_image_standardization", &image::per_image_standardization);
  m.def("adjust_brightness", &image::adjust_brightness);
  m.def("adjust_contrast", &image::adjust_contrast);
  m.def("adjust_saturation", &image::adjust_saturation);
  m.def("adjust_hue", &image::adjust_hue);
  m.def("adjust_gamma", &image::adjust_gamma);

  // random, by a seed
  m.def("stateless_random_flip_left_right", &image::stateless_random_flip_left_right);
  m.def("stateless_random_flip_up_down", &image::stateless_random_flip_up_down);
  m.def("stateless_random_crop", &image::stateless_random_crop);
  m.def("stateless_random_brightness", &image::stateless_random_brightness);
  m.def("stateless_random_contrast", &image::stateless_random_contrast);
  m.def("stateless_random_saturation", &image::stateless_random_saturation);
  m.def("stateless_random_hue", &image::stateless_random_hue);
}

} // namespace headrace::detail::python
