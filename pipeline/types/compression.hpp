#pragma once

#include <cstdint>
#include <string_view>

namespace headrace {

/// How blocks are packed on their way from a worker to a consumer.
enum class compression : uint8_t {
  automatic, ///< the worker chooses: none on one host, else snappy where samples of the blocks pay
  none,
  snappy,
};

/// As users write it: `auto`, `none` or `snappy`.
constexpr std::string_view to_string(compression x) noexcept {
  switch (x) {
  case compression::automatic: return "auto";
  case compression::none: return "none";
  case compression::snappy: return "snappy";
  }
  return "unknown";
}

} // namespace headrace
