// A plug-in that decodes images in a format of its own. A tile has the bytes "TILE", the width and
// the height (a byte each), and runs: pairs of bytes (count, index of a colour in a palette). The
// decoded image has the shape [height, width, 3].
//
//   headrace worker --plugin ./libtile_plugin.so

#include <headrace/pipeline/custom/plugin.hpp>

#include <array>
#include <cstdlib>
#include <fstream>

namespace hr = headrace;

namespace {

using colour = std::array<uint8_t, 3>;

/// The colours of all tiles, which are read once, before the first tile is decoded.
struct palette {
  std::vector<colour> colours;
};

hr::result<std::shared_ptr<palette>> read_palette() {
  auto out = std::make_shared<palette>();
  const char* file = std::getenv("TILE_PALETTE");
  if (!file) {
    out->colours = {{0, 0, 0}, {255, 255, 255}, {255, 0, 0}, {0, 128, 255}};
    return out;
  }
  std::ifstream in{file};
  for (int r, g, b; in >> r >> g >> b;)
    out->colours.push_back(
      {static_cast<uint8_t>(r), static_cast<uint8_t>(g), static_cast<uint8_t>(b)});
  if (out->colours.empty())
    return hr::not_found(std::string{"there are no colours in TILE_PALETTE, '"} + file + "'");
  return out;
}

hr::status decode(const palette& with, std::string_view tile, hr::element_output& out) {
  constexpr std::string_view magic = "TILE";
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(tile[i]); };
  if (tile.size() < magic.size() + 2 || !tile.starts_with(magic))
    return hr::data_loss("this is no tile: it does not begin with TILE, width and height");
  const int64_t width = byte(magic.size()), height = byte(magic.size() + 1);
  std::vector<uint8_t> image;
  for (auto i = magic.size() + 2; i + 1 < tile.size(); i += 2) {
    if (byte(i + 1) >= with.colours.size())
      return hr::data_loss("colour " + std::to_string(byte(i + 1)) + " of a palette of "
                           + std::to_string(with.colours.size()));
    const auto& c = with.colours[byte(i + 1)];
    for (int n = 0; n < byte(i); ++n) image.insert(image.end(), c.begin(), c.end());
  }
  if (image.size() != static_cast<size_t>(width * height * 3))
    return hr::data_loss("the runs of the tile are not as long as its " + std::to_string(width)
                         + " x " + std::to_string(height) + " places");
  return out.set<uint8_t>(0, {height, width, 3}, image);
}

/// A function of blocks: the number of bytes of each tile, for all rows in one call.
hr::result<hr::block> sizes(const hr::block& tiles) {
  hr::mutable_buffer out{tiles.rows * sizeof(int64_t)};
  for (size_t i = 0; i < tiles.rows; ++i)
    out.as<int64_t>()[i] = static_cast<int64_t>(tiles.columns[0].string(i).size());
  return hr::block{{hr::column::dense(hr::dtype::int64, {}, tiles.rows, std::move(out).freeze())},
                   tiles.rows,
                   tiles.errors,
                   {}};
}

} // namespace

HEADRACE_PLUGIN(functions) {
  const auto image = hr::shape{hr::shape::unknown, hr::shape::unknown, 3};
  HEADRACE_TRY(functions.add(
    "tile.decode",
    hr::element_function{
      .takes = hr::tensor_spec{hr::dtype::string, {}},
      .gives = hr::tensor_spec{hr::dtype::uint8, image},
      .call = hr::with_set_up<palette>(
        read_palette, [](const palette& with, const hr::element& in,
                         hr::element_output& out) { return decode(with, in[0].string(), out); }),
    }));
  return functions.add("tile.bytes", sizes);
}
