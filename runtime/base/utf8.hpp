#pragma once

#include <cstddef>
#include <string_view>

namespace headrace::detail {

/// The number of bytes, 1 to 4, of the UTF-8 sequence that begins at `text[at]`; 0 if no valid
/// sequence begins there. @pre at < text.size()
size_t utf8_length(std::string_view text, size_t at) noexcept;

/// The beginning of a text, of at most `most` bytes. A UTF-8 sequence is not cut: the result may be
/// up to 3 bytes shorter. Bytes that are not UTF-8 stay as they are.
std::string_view utf8_prefix(std::string_view text, size_t most) noexcept;

} // namespace headrace::detail
