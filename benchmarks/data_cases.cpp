#include "benchmarks/cases.hpp"
#include "benchmarks/drain.hpp"

#include <headrace/pipeline/files/tfrecord_writer.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <turbojpeg.h>

namespace headrace::detail::bench {

namespace {

constexpr int64_t examples = 100'000;
constexpr int64_t pixels = 64;
constexpr int64_t images = 200;
constexpr int64_t image_side = 512, small_side = 224, channels = 3;
constexpr int64_t numbers = 10'000'000;
constexpr int64_t shuffle_buffer = 1'000'000;

// -- tf.Example ---------------------------------------------------------------

std::string feature(std::string_view name, const std::string& value) {
  std::string entry, out;
  protozero::pbf_writer writer{entry};
  writer.add_string(1, name.data(), name.size());
  writer.add_message(2, value);
  protozero::pbf_writer{out}.add_message(1, entry);
  return out;
}

/// A serialized tf.Example with 64 floats, an int64 and a string of bytes.
std::string example_of(int64_t number) {
  std::vector<float> values(pixels);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(number % 251) + static_cast<float>(i);
  std::string floats, list, label, name, out;
  protozero::pbf_writer{list}.add_packed_float(1, values.begin(), values.end());
  protozero::pbf_writer{floats}.add_message(2, list);
  const int64_t labels[] = {number % 10};
  list.clear();
  protozero::pbf_writer{list}.add_packed_int64(1, std::begin(labels), std::end(labels));
  protozero::pbf_writer{label}.add_message(3, list);
  list.clear();
  protozero::pbf_writer{list}.add_bytes(1, "example " + std::to_string(number));
  protozero::pbf_writer{name}.add_message(1, list);
  protozero::pbf_writer{out}.add_message(1, feature("pixels", floats) + feature("label", label)
                                              + feature("name", name));
  return out;
}

/// A file of examples that is removed with the object.
class example_file {
public:
  example_file()
    : path_(std::filesystem::temp_directory_path()
            / ("headrace_bench_" + std::to_string(::getpid()) + ".tfrecord")) {
    auto to = tfrecord_writer::open(path_).value();
    for (int64_t i = 0; i < examples; ++i)
      if (auto failed = to.write(example_of(i)); !failed.ok())
        throw error{failed};
    if (auto failed = to.finish(); !failed.ok())
      throw error{failed};
  }
  ~example_file() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
  }
  example_file(const example_file&) = delete;
  example_file& operator=(const example_file&) = delete;
  std::string path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// Reads the file, visits the fields of each record and copies the values out. It checks nothing,
/// and assumes that each record has all fields.
double plain_parse(const std::string& path) {
  return rate(examples, [&] {
    std::string bytes(std::filesystem::file_size(path), '\0');
    std::ifstream{path, std::ios::binary}.read(bytes.data(),
                                               static_cast<std::streamsize>(bytes.size()));
    // As in the pipeline, there is one buffer for each field, which collects the values of a few
    // thousand examples before it is emptied.
    constexpr size_t most = 4096;
    std::vector<float> floats;
    std::vector<int64_t> labels;
    std::string names;
    constexpr size_t header = 12, footer = 4;
    for (size_t at = 0; at < bytes.size();) {
      if (labels.size() == most) {
        floats.clear();
        labels.clear();
        names.clear();
      }
      uint64_t length;
      std::memcpy(&length, bytes.data() + at, sizeof length);
      protozero::pbf_reader example{bytes.data() + at + header, length};
      example.next(1);
      auto features = example.get_message();
      while (features.next(1)) {
        auto entry = features.get_message();
        entry.next(2);
        auto value = entry.get_message();
        value.next();
        const auto kind = value.tag();
        auto list = value.get_message();
        list.next(1);
        if (kind == 2) {
          const auto data = list.get_view();
          floats.resize(floats.size() + pixels);
          std::memcpy(floats.data() + floats.size() - pixels, data.data(), data.size());
        } else if (kind == 3) {
          const auto packed = list.get_packed_int64();
          labels.insert(labels.end(), packed.begin(), packed.end());
        } else {
          const auto data = list.get_view();
          names.append(data.data(), data.size());
        }
      }
      at += header + length + footer;
    }
  });
}

dataset parsed(const std::string& path) {
  return dataset::tfrecord(std::vector<std::string>{path}).map([](expr record) {
    return io::parse_example(record, {io::fixed_len_feature("pixels", {pixels}, dtype::float32),
                                      io::fixed_len_feature("label", {}, dtype::int64),
                                      io::fixed_len_feature("name", {}, dtype::string)});
  });
}

// -- images -------------------------------------------------------------------

/// A JPEG image of waves and noise, which has as much detail as a photograph.
std::string some_jpeg() {
  std::vector<uint8_t> image(image_side * image_side * channels);
  uint32_t noise = 1;
  for (size_t i = 0; i < image.size(); ++i) {
    noise = noise * 1664525 + 1013904223;
    const auto x = i / channels % image_side, y = i / channels / image_side;
    image[i] = static_cast<uint8_t>((x * y / 700 + 40 * (i % channels) + (noise >> 28)) % 256);
  }
  const auto encoded = dataset::from_tensors(constant(std::span<const uint8_t>{image},
                                                      shape{image_side, image_side, channels}))
                         .map([](expr x) { return image::encode_jpeg(x, 90); })
                         .get_single_element();
  return std::string{encoded[0].string()};
}

/// Decodes one image after the other and resizes it bilinearly: two weighted neighbours along each
/// axis.
double plain_jpeg(const std::string& jpeg) {
  return rate(images, [&] {
    auto* decoder = tjInitDecompress();
    std::vector<uint8_t> image(image_side * image_side * channels);
    std::vector<float> out(small_side * small_side * channels);
    constexpr auto scale = static_cast<float>(image_side) / small_side;
    for (int64_t n = 0; n < images; ++n) {
      tjDecompress2(decoder, reinterpret_cast<const unsigned char*>(jpeg.data()), jpeg.size(),
                    image.data(), image_side, 0, image_side, TJPF_RGB, TJFLAG_ACCURATEDCT);
      auto* to = out.data();
      for (int64_t y = 0; y < small_side; ++y) {
        const auto from_y = std::max(0.f, (static_cast<float>(y) + 0.5f) * scale - 0.5f);
        const auto top = static_cast<int64_t>(from_y);
        const auto low = from_y - static_cast<float>(top);
        const auto* a = image.data() + top * image_side * channels;
        const auto* b = a + (top + 1 < image_side ? image_side * channels : 0);
        for (int64_t x = 0; x < small_side; ++x) {
          const auto from_x = std::max(0.f, (static_cast<float>(x) + 0.5f) * scale - 0.5f);
          const auto left = static_cast<int64_t>(from_x);
          const auto right = from_x - static_cast<float>(left);
          const auto next = left + 1 < image_side ? channels : 0;
          for (int64_t c = 0; c < channels; ++c) {
            const auto i = left * channels + c;
            const auto above =
              static_cast<float>(a[i]) * (1 - right) + static_cast<float>(a[i + next]) * right;
            const auto below =
              static_cast<float>(b[i]) * (1 - right) + static_cast<float>(b[i + next]) * right;
            *to++ = above * (1 - low) + below * low;
          }
        }
      }
    }
    tjDestroy(decoder);
  });
}

dataset small_images(const std::string& jpeg) {
  return dataset::from_tensors(expr{jpeg}).repeat(images).map([](expr bytes) {
    return image::resize(image::decode_jpeg(bytes, channels), small_side, small_side);
  });
}

// -- order --------------------------------------------------------------------

/// A random number that costs very little to compute (xorshift).
uint64_t draw(uint64_t& state) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

double plain_shuffle() {
  return rate(numbers, [] {
    std::vector<int64_t> held(shuffle_buffer), out(numbers);
    uint64_t state = 7;
    std::iota(held.begin(), held.end(), 0);
    for (int64_t i = 0; i < numbers; ++i) {
      const auto left = static_cast<uint64_t>(std::min(shuffle_buffer, numbers - i));
      auto& place = held[static_cast<size_t>((static_cast<__uint128_t>(draw(state)) * left) >> 64)];
      out[static_cast<size_t>(i)] = place;
      place = i + shuffle_buffer < numbers ? i + shuffle_buffer : held[left - 1];
    }
    [[maybe_unused]] volatile int64_t kept = out.back();
  });
}

double plain_global_shuffle() {
  return rate(numbers, [] {
    std::vector<int64_t> out(numbers);
    uint64_t state = 7;
    for (int64_t i = 0; i < numbers; ++i) {
      const auto j = static_cast<size_t>(
        (static_cast<__uint128_t>(draw(state)) * static_cast<uint64_t>(i + 1)) >> 64);
      out[static_cast<size_t>(i)] = out[j];
      out[j] = i;
    }
    [[maybe_unused]] volatile int64_t kept = out.back();
  });
}

} // namespace

void add_data_cases(std::vector<bench_case>& to) {
  // The file of examples is written at the first measurement of `example_parse_local` or of its
  // limit, and deleted with the case.
  const auto file = std::make_shared<std::unique_ptr<example_file>>();
  const auto path = [file] {
    if (!*file)
      *file = std::make_unique<example_file>();
    return (*file)->path();
  };
  to.push_back({"example_parse_local", "examples/s", "reading, walking, copying: nothing checked",
                [path] {
                  const auto ds = parsed(path());
                  return rate(examples, [&] { drain_any(ds); });
                },
                [path] { return plain_parse(path()); }});
  const auto jpeg = std::make_shared<std::string>();
  const auto bytes = [jpeg] {
    if (jpeg->empty())
      *jpeg = some_jpeg();
    return *jpeg;
  };
  to.push_back({"jpeg_224_local", "images/s", "TurboJPEG and a plain loop",
                [bytes] {
                  const auto ds = small_images(bytes());
                  return rate(images, [&] { drain_any(ds); });
                },
                [bytes] { return plain_jpeg(bytes()); }});
  to.push_back({"shuffle_10m", "int64/s", "an array of 1 M places, a cheap draw",
                [] {
                  const auto ds = dataset::range(numbers).shuffle(shuffle_buffer, {.seed = 7});
                  return rate(numbers, [&] { drain_any(ds); });
                },
                plain_shuffle});
  to.push_back({"global_shuffle_10m", "int64/s", "shuffling an array of 10 M",
                [] {
                  const auto ds = dataset::range(numbers).global_shuffle({.seed = 7});
                  return rate(numbers, [&] { drain_any(ds); });
                },
                plain_global_shuffle});
}

} // namespace headrace::detail::bench
