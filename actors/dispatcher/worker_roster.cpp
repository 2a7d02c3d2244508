#include "headrace/actors/dispatcher/worker_roster.hpp"

#include "headrace/runtime/base/address.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>

namespace headrace::detail {

namespace {

status refused(const std::string& entry, std::string_view why) {
  return invalid_argument(fmt::format("worker_addresses: '{}' {}; an entry is 'host', "
                                      "'host:%port%' or 'host:port'",
                                      entry, why));
}

bool same_host(const std::string& a, const std::string& b) {
  const auto alike = [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  };
  return std::ranges::equal(a, b, alike) || (is_loopback(a) && is_loopback(b));
}

} // namespace

result<worker_roster> worker_roster::of(const std::vector<std::string>& entries) {
  worker_roster out;
  for (const auto& name : entries) {
    auto text = name.substr(name.find("://") == std::string::npos ? 0 : name.find("://") + 3);
    const auto colon = text.rfind(':');
    // An address with more than one colon and without brackets is an IPv6 address without a port.
    const bool has_port = colon != std::string::npos
                          && (text.find(':') == colon || (colon != 0 && text[colon - 1] == ']'));
    auto host = has_port ? text.substr(0, colon) : text;
    const auto port = has_port ? text.substr(colon + 1) : std::string{"%port%"};
    const bool any = port.size() > 2 && port.front() == '%' && port.back() == '%';
    if (host.size() > 1 && host.front() == '[' && host.back() == ']')
      host = host.substr(1, host.size() - 2);
    if (host.empty() || host.find_first_of(" \t[]%/") != std::string::npos)
      return refused(name, "names no host");
    if (host.find(':') != std::string::npos && !parse_address("[" + host + "]:1"))
      return refused(name, "has more than one ':' and is not an IPv6 address");
    entry fresh{name, host, std::nullopt};
    if (!any) {
      const auto given = parse_address("host:" + port);
      if (!given || given->port == 0)
        return refused(name, fmt::format("has the port '{}'", port));
      fresh.port = given->port;
    }
    for (const auto& other : out.entries_)
      if (fresh.port && other.port == fresh.port && same_host(other.host, fresh.host))
        return refused(name, "is there twice");
    out.entries_.push_back(std::move(fresh));
  }
  return out;
}

std::vector<std::string> worker_roster::names() const {
  std::vector<std::string> out;
  for (const auto& x : entries_) out.push_back(x.name);
  return out;
}

bool worker_roster::fits(const entry& what, const std::string& data_address) {
  const auto at = parse_address(data_address);
  return at && same_host(what.host, at->host) && (!what.port || *what.port == at->port);
}

result<uint32_t>
worker_roster::place_for(const std::string& data_address,
                         const std::map<uint32_t, worker_place>& places,
                         const std::function<bool(const worker_place&)>& holds) const {
  enum rank { its_own, of_its_port, nobodys, one_that_is_gone, none };
  std::optional<uint32_t> best;
  auto how_good = none;
  std::string taken;
  for (uint32_t i = 0; i < size(); ++i) {
    const auto& one = entries_[i];
    if (!fits(one, data_address))
      continue;
    const auto known = places.find(i);
    // A recorded worker that does not fit this entry registered when the list had another entry at
    // this index.
    const bool had = known != places.end() && fits(one, known->second.data_address);
    const bool own = had && known->second.data_address == data_address;
    if (had && !own && holds(known->second)) {
      taken += fmt::format("{}'{}' is that of {} at {}", taken.empty() ? "" : ", ", one.name,
                           to_string(known->second.worker), known->second.data_address);
      continue;
    }
    const auto this_good = own        ? its_own
                           : one.port ? of_its_port
                           : had      ? one_that_is_gone
                                      : nobodys;
    if (this_good < how_good) {
      best = i;
      how_good = this_good;
    }
  }
  if (best)
    return *best;
  if (!taken.empty())
    return already_exists(
      fmt::format("the worker at {} has no entry of worker_addresses: {}, whose "
                  "lease runs",
                  data_address, taken));
  return status{
    status_code::permission_denied,
    fmt::format("the worker at {} is not among the worker_addresses of this dispatcher ({}); "
                "add it there, or have it advertise one of these",
                data_address, fmt::join(names(), ", "))};
}

} // namespace headrace::detail
