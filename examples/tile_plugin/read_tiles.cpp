// Reads tiles with the plug-in's decoder, here and on a worker: read_tiles PLUGIN

#include <headrace/headrace.hpp>

#include <cstdio>

namespace hr = headrace;
using namespace std::string_literals;

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: read_tiles PLUGIN\n");
    return 64;
  }
  try {
    auto functions = std::make_shared<hr::function_registry>();
    if (auto failed = functions->load_plugin(argv[1]); !failed.ok())
      throw hr::error{failed};
    const auto find = hr::function_registry::finder(functions);

    const auto tiles = hr::dataset::from_tensor_slices(
      hr::constant(std::vector<std::string>{"TILE\2\2\1\0\3\2"s, "not a tile"s, "TILE\4\1\4\3"s}));
    const auto images = tiles.map(
      hr::named_call{"tile.decode", hr::tensor_spec{hr::dtype::uint8,
                                                    {hr::shape::unknown, hr::shape::unknown, 3}}});

    hr::local_cluster cluster{{.workers = 1, .find_function = find}};
    const auto there = images.apply(hr::distribute({.service = cluster.target()}));
    size_t read = 0, failed = 0;
    for (const auto& dataset : {images, there}) {
      auto from = dataset.iterate({.find_function = find});
      while (true) {
        auto image = from.next();
        if (!image) {
          ++failed;
          std::printf("%s\n", to_string(image.status()).c_str());
          continue;
        }
        if (!*image)
          break;
        ++read;
        std::printf("an image of %s\n", to_string((**image)[0].dims()).c_str());
      }
    }
    return read == 4 && failed == 2 ? 0 : 1;
  } catch (const hr::error& e) {
    std::fprintf(stderr, "read_tiles: %s\n", e.what());
    return 1;
  }
}
