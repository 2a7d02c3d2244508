#include "headrace/runtime/base/utf8.hpp"

namespace headrace::detail {

namespace {

bool continues(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

} // namespace

size_t utf8_length(std::string_view text, size_t at) noexcept {
  const auto byte = [&](size_t k) { return static_cast<unsigned char>(text[k]); };
  const auto first = byte(at);
  const size_t n = first < 0x80   ? 1
                   : first < 0xC2 ? 0
                   : first < 0xE0 ? 2
                   : first < 0xF0 ? 3
                   : first < 0xF5 ? 4
                                  : 0;
  if (n == 0 || at + n > text.size())
    return 0;
  for (size_t k = 1; k < n; ++k)
    if (!continues(text[at + k]))
      return 0;
  // The condition holds for overlong forms, surrogates, and values beyond U+10FFFF.
  if ((first == 0xE0 && byte(at + 1) < 0xA0) || (first == 0xED && byte(at + 1) > 0x9F)
      || (first == 0xF0 && byte(at + 1) < 0x90) || (first == 0xF4 && byte(at + 1) > 0x8F))
    return 0;
  return n;
}

std::string_view utf8_prefix(std::string_view text, size_t most) noexcept {
  if (text.size() <= most)
    return text;
  auto begin = most;
  while (begin != 0 && most - begin < 3 && continues(text[begin])) --begin;
  return text.substr(0, begin + utf8_length(text, begin) > most ? begin : most);
}

} // namespace headrace::detail
