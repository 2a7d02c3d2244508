#include "headrace/runtime/message/caf_inspect.hpp"

#if HEADRACE_CAF_LEGACY

#  include <caf/binary_deserializer.hpp>

namespace headrace::detail {

caf::error inspect(caf::serializer& sink, envelope& x) {
  const auto bytes = x.bytes();
  auto size = bytes.size() <= max_message_bytes ? bytes.size() : 0;
  if (auto why = sink.begin_sequence(size))
    return why;
  if (size != 0)
    if (auto why = sink.apply_raw(size, const_cast<std::byte*>(bytes.data())))
      return why;
  return sink.end_sequence();
}

caf::error inspect(caf::deserializer& source, envelope& x) {
  const auto broken = [&](std::string problem) {
    x = envelope::broken(std::move(problem));
    return caf::error{};
  };
  size_t size = 0;
  if (source.begin_sequence(size))
    return broken("truncated before its size");
  // Memory is allocated only for bytes that are present, whatever size is announced.
  if (auto* in = dynamic_cast<caf::binary_deserializer*>(&source); in && in->remaining() < size)
    return broken("truncated: " + std::to_string(in->remaining()) + " of " + std::to_string(size)
                  + " bytes");
  if (size > max_message_bytes)
    return broken("message of " + std::to_string(size) + " bytes is over the limit");
  if (size == 0)
    return x = envelope{}, source.end_sequence();
  mutable_buffer words{size};
  if (source.apply_raw(size, words.data()))
    return broken("truncated");
  x = envelope::parse(std::move(words).freeze());
  return source.end_sequence();
}

} // namespace headrace::detail

#endif
