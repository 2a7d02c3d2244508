#pragma once

#include "headrace/runtime/caf/port.hpp"
#include "headrace/runtime/message/envelope.hpp"

namespace headrace::detail {

// The form in which the actor framework's network sends an envelope: a byte count and the words of
// the message. Loading never fails: damaged bytes result in a message that is not valid, which the
// receiving actor counts and answers (the framework would drop it silently). A message of more than
// `max_message_bytes` is sent without its words, so that the receiver answers it in the same way.

#if HEADRACE_CAF_LEGACY

caf::error inspect(caf::serializer& sink, envelope& x);
caf::error inspect(caf::deserializer& source, envelope& x);

#else

template <class Inspector>
bool inspect(Inspector& f, envelope& x) {
  if (!f.begin_object(caf::type_id_or_invalid<envelope>(), "message") || !f.begin_field("words"))
    return false;
  if constexpr (Inspector::is_loading) {
    size_t size = 0;
    if (!f.begin_sequence(size))
      return x = envelope::broken("truncated before its size"), true;
    if constexpr (requires { f.remaining(); })
      if (f.remaining() < size)
        return x = envelope::broken("truncated: " + std::to_string(f.remaining()) + " of "
                                    + std::to_string(size) + " bytes"),
               true;
    if (size > max_message_bytes)
      return x =
               envelope::broken("message of " + std::to_string(size) + " bytes is over the limit"),
             true;
    mutable_buffer words{size};
    if (size != 0 && !f.value(caf::byte_span{words.data(), size}))
      return x = envelope::broken("truncated"), true;
    x = size != 0 ? envelope::parse(std::move(words).freeze()) : envelope{};
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

} // namespace headrace::detail
