#pragma once

#include "headrace/runtime/basp/basp_content.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <concepts>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail::test {

/// Bytes in the format in which CAF, the actor framework, writes them.
class basp_bytes {
public:
  basp_bytes& raw(std::string_view bytes) { return out_ += bytes, *this; }
  template <std::unsigned_integral T>
  basp_bytes& number(T x) {
    for (int shift = int{sizeof(T)} * 8 - 8; shift >= 0; shift -= 8)
      out_ += static_cast<char>(uint64_t{x} >> shift);
    return *this;
  }
  basp_bytes& count(uint64_t x) {
    for (; x >= 0x80; x >>= 7) out_ += static_cast<char>(x | 0x80);
    return out_ += static_cast<char>(x), *this;
  }
  basp_bytes& text(std::string_view x) { return count(x.size()).raw(x); }
  basp_bytes& node(char name, uint64_t kind = basp_usual_node) {
    return number(kind).number(uint32_t{4711}).raw(std::string(20, name));
  }
  basp_bytes& types(std::string_view names) { return number(uint16_t{0}).text(names); }
  basp_bytes& envelope(size_t size, char fill = 'e') {
    return types("@<>+headrace::detail::envelope").count(size).raw(std::string(size, fill));
  }
  /// An error of headrace, with a text.
  basp_bytes& error(std::string_view why) {
    return number(uint8_t{5}).number(basp_usual_node).types("@<>+@str").text(why);
  }
  operator std::string() const { return out_; }

private:
  std::string out_;
};

inline basp_node basp_node_named(char name) {
  const std::string bytes = basp_bytes{}.node(name);
  basp_node out;
  std::copy(bytes.begin(), bytes.end(), out.begin());
  return out;
}

struct basp_frame {
  basp_header header;
  std::string payload;

  std::string bytes() const {
    const std::string head = basp_bytes{}
                               .number(header.operation)
                               .number(header.padding)
                               .number(header.flags)
                               .number(header.payload_bytes)
                               .number(header.data)
                               .number(header.source_actor)
                               .number(header.dest_actor);
    return head + payload;
  }
  /// The frame with the size of its payload in the header.
  basp_frame sized() && {
    header.payload_bytes = static_cast<uint32_t>(payload.size());
    return std::move(*this);
  }
};

inline basp_frame make_basp_frame(basp_operation what, std::string payload, basp_header rest = {}) {
  rest.operation = static_cast<uint8_t>(what);
  return basp_frame{rest, std::move(payload)}.sized();
}

inline basp_frame basp_server_handshake(char node) {
  return make_basp_frame(basp_operation::server_handshake,
                         basp_bytes{}
                           .node(node)
                           .count(1)
                           .text("headrace/caf0.17")
                           .number(uint64_t{12})
                           .count(1)
                           .text("(@envelope)"),
                         {.data = basp_version});
}
inline basp_frame basp_client_handshake(char node, uint8_t flags = 0) {
  return make_basp_frame(basp_operation::client_handshake, basp_bytes{}.node(node),
                         {.flags = flags});
}
inline constexpr uint64_t basp_async = uint64_t{1} << 60;
inline constexpr uint64_t basp_response = uint64_t{1} << 63;
inline basp_frame basp_direct(std::string content, uint64_t id = basp_async | 5, uint64_t from = 7,
                              uint64_t to = 12) {
  return make_basp_frame(basp_operation::direct_message, basp_bytes{}.count(0).raw(content),
                         {.data = id, .source_actor = from, .dest_actor = to});
}
inline basp_frame basp_monitor(char from, char to, uint64_t actor = 12) {
  return make_basp_frame(basp_operation::monitor_message, basp_bytes{}.node(from).node(to),
                         {.dest_actor = actor});
}
inline basp_frame basp_down(char from, char to, std::string error, uint64_t actor = 7) {
  return make_basp_frame(basp_operation::down_message, basp_bytes{}.node(from).node(to).raw(error),
                         {.source_actor = actor});
}
inline basp_frame basp_heartbeat() { return make_basp_frame(basp_operation::heartbeat, ""); }

/// The complete frames at the beginning of `bytes`.
inline std::vector<basp_frame> basp_frames_of(std::string_view bytes) {
  std::vector<basp_frame> out;
  while (bytes.size() >= basp_header::bytes) {
    const auto header = basp_header::parse(
      std::span<const char, basp_header::bytes>{bytes.data(), basp_header::bytes});
    bytes.remove_prefix(basp_header::bytes);
    if (bytes.size() < header.payload_bytes)
      break;
    out.push_back({header, std::string{bytes.substr(0, header.payload_bytes)}});
    bytes.remove_prefix(header.payload_bytes);
  }
  return out;
}

} // namespace headrace::detail::test
