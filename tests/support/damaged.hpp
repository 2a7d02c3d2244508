#pragma once

#include "headrace/runtime/base/buffer.hpp"

#include <cstring>
#include <random>

namespace headrace::detail::test {

/// The buffer with some bits flipped, and sometimes without its end. @pre `from` is not empty
inline buffer damaged(const buffer& from, std::mt19937_64& random) {
  const auto size = random() % 4 == 0 ? random() % from.size() : from.size();
  mutable_buffer out{size};
  std::memcpy(out.data(), from.data(), size);
  if (size != 0)
    for (auto n = random() % 4 + 1; n != 0; --n)
      out.data()[random() % size] ^= static_cast<std::byte>(1 << random() % 8);
  return std::move(out).freeze();
}

} // namespace headrace::detail::test
