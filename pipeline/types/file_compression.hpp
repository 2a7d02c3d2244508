#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// The compression of a whole file. It is not detected: the user must state it.
enum class file_compression : uint8_t { none, gzip, zlib };

/// All values that this build defines.
inline constexpr file_compression file_compressions[]{
  file_compression::none, file_compression::gzip, file_compression::zlib};

/// The form that users write: an empty text, `GZIP` or `ZLIB`.
constexpr std::string_view to_string(file_compression x) noexcept {
  switch (x) {
  case file_compression::none: return "";
  case file_compression::gzip: return "GZIP";
  case file_compression::zlib: return "ZLIB";
  }
  return "unknown";
}

/// The compression with that name. `invalid_argument` names the unknown word and the valid ones.
result<file_compression> file_compression_of(std::string_view word);

} // namespace headrace
