#include "headrace/runtime/basp/basp_frame.hpp"

#include <bit>
#include <cstring>

namespace headrace::detail {
namespace {

template <class T>
T in_network_order(T x) noexcept {
  if constexpr (std::endian::native == std::endian::big || sizeof(T) == 1)
    return x;
  else if constexpr (sizeof(T) == 2)
    return __builtin_bswap16(x);
  else if constexpr (sizeof(T) == 4)
    return __builtin_bswap32(x);
  else
    return __builtin_bswap64(x);
}

template <class T>
void read(const char*& at, T& x) noexcept {
  std::memcpy(&x, at, sizeof(x));
  x = in_network_order(x);
  at += sizeof(x);
}

const char* name_of(uint8_t operation) noexcept {
  static constexpr const char* names[] = {
    "server's handshake", "client's handshake", "direct message", "routed message",
    "monitor message",    "down message",       "heartbeat"};
  return operation < std::size(names) ? names[operation] : "no operation";
}

} // namespace

basp_header basp_header::parse(std::span<const char, bytes> in) noexcept {
  basp_header out;
  auto at = in.data();
  read(at, out.operation);
  read(at, out.padding);
  read(at, out.flags);
  read(at, out.payload_bytes);
  read(at, out.data);
  read(at, out.source_actor);
  read(at, out.dest_actor);
  return out;
}

std::string to_string(const basp_header& x) {
  return std::string{name_of(x.operation)} + " (" + std::to_string(x.operation) + "), flags "
         + std::to_string(x.flags) + ", payload of " + std::to_string(x.payload_bytes)
         + " bytes, data " + std::to_string(x.data) + ", from actor "
         + std::to_string(x.source_actor) + " to " + std::to_string(x.dest_actor);
}

} // namespace headrace::detail
