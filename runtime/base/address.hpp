#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::detail {

/// The address of a node. Its scheme is for users only: connecting to the actor port of the address
/// ignores the scheme, and an address with a scheme is refused as the address of a link.
struct address {
  std::string scheme; ///< before `://`; may be empty
  std::string host;   ///< a name or a numeric address, IPv6 without its brackets
  uint16_t port = 0;

  friend bool operator==(const address&, const address&) = default;
};

/// Reads `host:port` or `scheme://host:port`; an IPv6 host must be in brackets: `[::1]:4000`. An
/// error contains the problem and a valid example. `least_port`: the lowest valid port; 0 for an
/// address to listen at, in which port 0 requests any free port.
result<address> parse_address(std::string_view text, uint16_t least_port = 1);
/// `host:port`, with brackets round IPv6 and the scheme in front if there is one.
std::string to_string(const address& x);
/// `host:port`, with brackets round IPv6.
std::string host_and_port(std::string_view host, uint16_t port);

/// True if the address can be reached only from this host: 127.x.y.z, ::1 or localhost.
bool is_loopback(std::string_view host);
/// True if the address stands for every address of this host: empty, 0.0.0.0, ::.
bool is_wildcard(std::string_view host);
/// The host at which this machine reaches its own server that listens on `host`: a loopback address
/// if `host` is a wildcard, else `host`.
std::string host_from_here(std::string_view host);

} // namespace headrace::detail
