#include "headrace/runtime/link/link.hpp"

#include <fmt/format.h>

namespace headrace::detail {

size_t link_message::byte_size() const noexcept {
  auto n = header.size() + (content ? content->byte_size() : 0);
  for (const auto& x : payload) n += x.size();
  return n;
}

status link_limits::check(const link_message& message) const {
  const auto beyond = [](const char* what, uint64_t is, uint64_t most) {
    return invalid_argument(
      fmt::format("its {} would be {}, and a link carries at most {}", what, is, most));
  };
  if (message.header.size() % 8 != 0)
    return invalid_argument("its header is not made of words of 8 bytes");
  if (message.header.size() > header_bytes)
    return beyond("bytes of header", message.header.size(), header_bytes);
  if (message.payload.size() > segments)
    return beyond("segments", message.payload.size(), segments);
  if (const auto bytes = message.byte_size(); bytes > message_bytes)
    return beyond("bytes", bytes, message_bytes);
  return {};
}

} // namespace headrace::detail
