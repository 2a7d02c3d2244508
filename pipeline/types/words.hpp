#pragma once

#include "headrace/runtime/base/result.hpp"

#include <fmt/format.h>

#include <span>
#include <string>
#include <string_view>

namespace headrace::detail {

/// The value among `known` whose `to_string` is `word`. `invalid_argument`: `word` is not a `what`;
/// the message lists the valid words.
template <class T>
result<T> value_of_word(std::string_view what, std::string_view word, std::span<const T> known) {
  std::string right;
  for (size_t i = 0; i < known.size(); ++i) {
    if (word == to_string(known[i]))
      return known[i];
    right += fmt::format("{}'{}'",
                         i == 0                  ? ""
                         : i + 1 == known.size() ? " or "
                                                 : ", ",
                         to_string(known[i]));
  }
  return invalid_argument(fmt::format("{} is '{:.40}'; it must be {}", what, word, right));
}

} // namespace headrace::detail
