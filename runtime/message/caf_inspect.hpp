#pragma once

#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/message/message.hpp"

#include <caf/binary_deserializer.hpp>

namespace headrace {

// How a message<Schema> travels over the actor framework's network: a byte count and the words.
// Loading never fails: whatever is wrong with the bytes gives a message that is not valid, which
// the receiving actor counts and answers (the framework would drop it without a word). A message
// over the limit is sent as an empty one, for the same reason.

#if HEADRACE_CAF_LEGACY

template <class Schema>
caf::error inspect(caf::serializer& sink, message<Schema>& x) {
  auto bytes = x.bytes();
  auto size = bytes.size() <= max_message_bytes ? bytes.size() : 0;
  if (auto why = sink.begin_sequence(size))
    return why;
  if (size != 0)
    if (auto why = sink.apply_raw(size, const_cast<std::byte*>(bytes.data())))
      return why;
  return sink.end_sequence();
}

template <class Schema>
caf::error inspect(caf::deserializer& source, message<Schema>& x) {
  size_t size = 0;
  if (source.begin_sequence(size))
    return x = message<Schema>::broken("truncated before its size"), caf::none;
  // What is announced need not be there: allocate for what is.
  if (auto* in = dynamic_cast<caf::binary_deserializer*>(&source); in && in->remaining() < size)
    return x = message<Schema>::broken("truncated: " + std::to_string(in->remaining()) + " of "
                                       + std::to_string(size) + " bytes"),
           caf::none;
  if (size > max_message_bytes)
    return x = message<Schema>::broken("message of " + std::to_string(size)
                                       + " bytes is over the limit"),
           caf::none;
  if (size == 0)
    return x = message<Schema>{}, source.end_sequence();
  mutable_buffer words{size};
  if (source.apply_raw(size, words.data()))
    return x = message<Schema>::broken("truncated"), caf::none;
  x = message<Schema>::parse(std::move(words).freeze());
  return source.end_sequence();
}

#else

template <class Inspector, class Schema>
bool inspect(Inspector& f, message<Schema>& x) {
  using type = message<Schema>;
  if (!f.begin_object(caf::type_id_or_invalid<type>(), "message") || !f.begin_field("words"))
    return false;
  if constexpr (Inspector::is_loading) {
    size_t size = 0;
    if (!f.begin_sequence(size))
      return x = type::broken("truncated before its size"), true;
    if constexpr (requires { f.remaining(); })
      if (f.remaining() < size)
        return x = type::broken("truncated: " + std::to_string(f.remaining()) + " of "
                                + std::to_string(size) + " bytes"),
               true;
    if (size > max_message_bytes)
      return x = type::broken("message of " + std::to_string(size) + " bytes is over the limit"),
             true;
    mutable_buffer words{size};
    if (size != 0 && !f.value(caf::byte_span{words.data(), size}))
      return x = type::broken("truncated"), true;
    x = size != 0 ? type::parse(std::move(words).freeze()) : type{};
  } else {
    auto bytes = x.bytes();
    auto size = bytes.size() <= max_message_bytes ? bytes.size() : 0;
    if (!f.begin_sequence(size)
        || (size != 0 && !f.value(caf::const_byte_span{bytes.data(), size})))
      return false;
  }
  return f.end_sequence() && f.end_field() && f.end_object();
}

#endif

} // namespace headrace
