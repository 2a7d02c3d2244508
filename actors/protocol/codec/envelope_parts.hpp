#pragma once

/// Helpers for reading requests and writing answers, for all messages.

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <string>
#include <string_view>

namespace headrace::detail {

/// An envelope with an answer of the dispatcher; `fill` is called with the builder of its
/// DispatcherMessage.
template <class Fill>
envelope make_dispatcher_answer(uint64_t request, Fill&& fill) {
  return make_envelope(request, [&](schema::Envelope::Builder b) { fill(b.initDispatcher()); });
}

/// A view, which is valid as long as the message.
inline std::string_view text_of(capnp::Text::Reader in) { return {in.cStr(), in.size()}; }
/// A view, which is valid as long as the string. Zero bytes inside the string are kept.
inline capnp::Text::Reader text_of(const std::string& in) { return {in.c_str(), in.size()}; }
/// As `text_of`, for bytes that are kept as a string, such as a fingerprint.
inline std::string_view chars_of(capnp::Data::Reader in) {
  return {reinterpret_cast<const char*>(in.begin()), in.size()};
}
/// A copy.
inline buffer bytes_of(capnp::Data::Reader in) { return buffer::copy_of(in.begin(), in.size()); }
/// A view, which is valid as long as the buffer.
inline capnp::Data::Reader data_of(const buffer& in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}
inline capnp::Data::Reader data_of(std::string_view in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}

} // namespace headrace::detail
