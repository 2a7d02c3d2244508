#include "headrace/pipeline/types/saved_compression.hpp"

#include <fmt/format.h>

namespace headrace {

std::string_view to_string(saved_compression x) noexcept {
  switch (x) {
  case saved_compression::none: return "NONE";
  case saved_compression::snappy: return "SNAPPY";
  case saved_compression::gzip: return "GZIP";
  }
  return "unknown compression";
}

result<saved_compression> saved_compression_of(std::string_view name) {
  if (name.empty() || name == "NONE")
    return saved_compression::none;
  if (name == "SNAPPY" || name == "AUTO")
    return saved_compression::snappy;
  if (name == "GZIP")
    return saved_compression::gzip;
  return invalid_argument(
    fmt::format("compression is '{:.40}'; it must be 'NONE', 'SNAPPY', 'GZIP' or 'AUTO'", name));
}

} // namespace headrace
