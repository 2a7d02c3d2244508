#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// How a file is compressed as a whole, which its reader must know.
enum class file_compression : uint8_t { none, gzip, zlib };

/// All that this build knows.
inline constexpr file_compression file_compressions[]{
  file_compression::none, file_compression::gzip, file_compression::zlib};

/// As users write it: nothing, `GZIP` or `ZLIB`.
constexpr std::string_view to_string(file_compression x) noexcept {
  switch (x) {
  case file_compression::none: return "";
  case file_compression::gzip: return "GZIP";
  case file_compression::zlib: return "ZLIB";
  }
  return "unknown";
}

/// The compression with that name. `invalid_argument` names the word and the known ones.
result<file_compression> file_compression_of(std::string_view word);

} // namespace headrace
