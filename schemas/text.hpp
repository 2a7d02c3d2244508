#pragma once

/// Conversions between strings or buffers and those fields of messages that have the types Text and
/// Data. All conversions keep zero bytes. Cap'n Proto's own setters, if they are given a
/// `std::string`, write only the bytes before the first zero byte.

#include "headrace/runtime/base/buffer.hpp"

#include <capnp/blob.h>
#include <string>
#include <string_view>

namespace headrace::detail {

/// A view, which is valid as long as the message.
inline std::string_view text_of(capnp::Text::Reader in) { return {in.begin(), in.size()}; }
/// A view, which is valid as long as the string.
inline capnp::Text::Reader text_of(const std::string& in) { return {in.c_str(), in.size()}; }
/// A copy.
inline std::string string_of(capnp::Text::Reader in) { return {in.begin(), in.size()}; }

/// A view, as characters, of bytes for which the code outside of messages uses strings, such as a
/// fingerprint. The view is valid as long as the message.
inline std::string_view chars_of(capnp::Data::Reader in) {
  return {reinterpret_cast<const char*>(in.begin()), in.size()};
}
/// A copy.
inline buffer bytes_of(capnp::Data::Reader in) { return buffer::copy_of(in.begin(), in.size()); }
/// A view, which is valid as long as the bytes.
inline capnp::Data::Reader data_of(const buffer& in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}
inline capnp::Data::Reader data_of(std::string_view in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}

} // namespace headrace::detail
