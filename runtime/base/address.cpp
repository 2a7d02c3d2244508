#include "headrace/runtime/base/address.hpp"

#include <algorithm>
#include <arpa/inet.h>
#include <charconv>

namespace headrace::detail {
namespace {

status wrong(std::string_view text, const std::string& what) {
  return invalid_argument("address \"" + std::string{text} + "\": " + what
                          + "; must be host:port, e.g. 127.0.0.1:4000, [::1]:4000 or "
                            "headrace://data.example.org:4000");
}

bool is_scheme_char(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+'
         || c == '-' || c == '.';
}

bool is_host_char(char c) {
  return static_cast<unsigned char>(c) > ' ' && c != 0x7F
         && std::string_view{"/\\@?#[]\"'<>"}.find(c) == std::string_view::npos;
}

} // namespace

result<address> parse_address(std::string_view text, uint16_t least_port) {
  address out;
  auto rest = text;
  if (auto at = rest.find("://"); at != std::string_view::npos) {
    auto scheme = rest.substr(0, at);
    if (scheme.empty() || !std::all_of(scheme.begin(), scheme.end(), is_scheme_char))
      return wrong(text, "the scheme before \"://\" is not a word");
    out.scheme = scheme;
    rest.remove_prefix(at + 3);
  }
  std::string_view host, port;
  if (rest.starts_with('[')) {
    auto end = rest.find(']');
    if (end == std::string_view::npos)
      return wrong(text, "\"[\" is never closed");
    host = rest.substr(1, end - 1);
    port = rest.substr(end + 1);
    in6_addr ignored;
    auto number = host.substr(0, host.find('%')); // without the zone, if there is one
    // `inet_pton` reads only up to the first zero byte, so zero bytes are refused here.
    if (host.find('\0') != std::string_view::npos
        || ::inet_pton(AF_INET6, std::string{number}.c_str(), &ignored) != 1)
      return wrong(text, "\"" + std::string{host} + "\" in brackets is not an IPv6 address");
    if (!port.starts_with(':'))
      return wrong(text, "the port is missing");
    port.remove_prefix(1);
  } else {
    auto colon = rest.find(':');
    if (colon == std::string_view::npos)
      return wrong(text, "the port is missing");
    if (rest.find(':', colon + 1) != std::string_view::npos)
      return wrong(text, "more than one \":\" (an IPv6 address goes into brackets)");
    host = rest.substr(0, colon);
    port = rest.substr(colon + 1);
    if (host.empty())
      return wrong(text, "the host is missing");
    if (!std::all_of(host.begin(), host.end(), is_host_char))
      return wrong(text, "\"" + std::string{host} + "\" is not a host");
  }
  if (port.empty())
    return wrong(text, "the port is missing");
  uint32_t number = 0;
  auto [end, code] = std::from_chars(port.data(), port.data() + port.size(), number);
  if (code != std::errc{} || end != port.data() + port.size() || number < least_port
      || number > 65535)
    return wrong(text, "\"" + std::string{port} + "\" is not a port (" + std::to_string(least_port)
                         + " to 65535)");
  out.host = host;
  out.port = static_cast<uint16_t>(number);
  return out;
}

std::string host_and_port(std::string_view host, uint16_t port) {
  auto bare = host.find(':') == std::string_view::npos;
  std::string out;
  ((out += bare ? "" : "[") += host) += bare ? "" : "]";
  return (out += ':') += std::to_string(port);
}

std::string to_string(const address& x) {
  return (x.scheme.empty() ? std::string{} : x.scheme + "://") + host_and_port(x.host, x.port);
}

bool is_loopback(std::string_view host) {
  in_addr four;
  if (::inet_pton(AF_INET, std::string{host}.c_str(), &four) == 1)
    return (ntohl(four.s_addr) >> 24) == 127;
  in6_addr six;
  if (::inet_pton(AF_INET6, std::string{host}.c_str(), &six) == 1)
    return IN6_IS_ADDR_LOOPBACK(&six);
  return host == "localhost";
}

bool is_wildcard(std::string_view host) {
  in_addr four;
  if (::inet_pton(AF_INET, std::string{host}.c_str(), &four) == 1)
    return four.s_addr == 0;
  in6_addr six;
  if (::inet_pton(AF_INET6, std::string{host}.c_str(), &six) == 1)
    return IN6_IS_ADDR_UNSPECIFIED(&six);
  return host.empty();
}

std::string host_from_here(std::string_view host) {
  if (!is_wildcard(host))
    return std::string{host};
  return host.find(':') == std::string_view::npos ? "127.0.0.1" : "::1";
}

} // namespace headrace::detail
