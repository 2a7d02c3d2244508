#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link_service.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail {

/// A kind of link to other nodes, with a name. The transport of a stream is chosen by this name;
/// after that all links are used in the same way.
class transport {
public:
  virtual ~transport() = default;
  /// Accepts links at an address of this kind of transport. Returns the address, with the port that
  /// was chosen if it has a port.
  virtual result<std::string> listen(const std::string& address, link_accepted on_accepted) = 0;
  /// `done` is called once, on a thread of the transport; or at once with an error if the address
  /// is invalid.
  virtual void connect(const std::string& address, link_connected done) = 0;
};

/// The transport `link` uses sockets. Addresses are `host:port`, with IPv6 in brackets.
std::shared_ptr<transport> make_link_transport(std::shared_ptr<link_service> service);

/// The transports of one node. Thread-safe only for reading.
class transport_registry {
public:
  /// Fails if another transport has the name.
  status add(std::string name, std::shared_ptr<transport> what);
  /// The transport of that name, or an error that lists the names of all transports.
  result<std::shared_ptr<transport>> find(const std::string& name) const;
  std::vector<std::string> names() const;

private:
  std::map<std::string, std::shared_ptr<transport>> transports_;
};

} // namespace headrace::detail
