#include "headrace/runtime/link/transport_registry.hpp"

#include "headrace/runtime/base/address.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// Reads `host:port`. A scheme is refused, because it has no meaning for sockets.
result<address> parse_host_and_port(const std::string& text, uint16_t least_port = 1) {
  HEADRACE_ASSIGN(auto out, parse_address(text, least_port));
  if (!out.scheme.empty())
    return invalid_argument(
      fmt::format("'{}' is not an address of a link: it has the scheme '{}'; expected host:port, "
                  "e.g. 10.0.0.1:7000 or [::1]:7000",
                  text, out.scheme));
  return out;
}

class link_transport final : public transport {
public:
  explicit link_transport(std::shared_ptr<link_service> service) : service_(std::move(service)) {}

  result<std::string> listen(const std::string& address, link_accepted on_accepted) override {
    HEADRACE_ASSIGN(auto at, parse_host_and_port(address, 0));
    HEADRACE_ASSIGN(auto port, service_->listen(at.host, at.port, std::move(on_accepted)));
    return address.substr(0, address.rfind(':') + 1) + std::to_string(port);
  }

  void connect(const std::string& address, link_connected done) override {
    auto at = parse_host_and_port(address);
    if (!at)
      return done(at.status());
    service_->connect(at->host, at->port, std::move(done));
  }

private:
  std::shared_ptr<link_service> service_;
};

} // namespace

std::shared_ptr<transport> make_link_transport(std::shared_ptr<link_service> service) {
  return std::make_shared<link_transport>(std::move(service));
}

status transport_registry::add(std::string name, std::shared_ptr<transport> what) {
  auto [at, added] = transports_.try_emplace(std::move(name), std::move(what));
  if (!added)
    return already_exists("there is a transport '" + at->first + "' already");
  return {};
}

result<std::shared_ptr<transport>> transport_registry::find(const std::string& name) const {
  if (auto i = transports_.find(name); i != transports_.end())
    return i->second;
  std::string known;
  for (const auto& [x, what] : transports_) known += (known.empty() ? "" : ", ") + x;
  return not_found("no transport '" + name + "'; known: " + (known.empty() ? "none" : known));
}

std::vector<std::string> transport_registry::names() const {
  std::vector<std::string> out;
  for (const auto& [name, what] : transports_) out.push_back(name);
  return out;
}

} // namespace headrace::detail
