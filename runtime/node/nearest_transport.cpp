#include "headrace/runtime/node/nearest_transport.hpp"

#include "headrace/runtime/link/local_link.hpp"

namespace headrace::detail {

namespace {

void connect_by(const std::weak_ptr<transport>& way, const std::string& address,
                link_connected done) {
  if (auto there = way.lock())
    there->connect(address, std::move(done));
  else
    done(cancelled("the node has ended"));
}

} // namespace

result<std::string> nearest_transport::listen(const std::string& address,
                                              link_accepted on_accepted) {
  if (auto there = otherwise_.lock())
    return there->listen(address, std::move(on_accepted));
  return cancelled("the node has ended");
}

void nearest_transport::connect(const std::string& address, link_connected done) {
  const auto hub = local_hub::present();
  if (!hub)
    return connect_by(otherwise_, address, std::move(done));
  hub->connect(address, node_id_,
               [way = otherwise_, address, done](result<std::shared_ptr<link>> outcome) {
                 if (outcome || outcome.status().code() != status_code::unavailable)
                   done(std::move(outcome));
                 else
                   connect_by(way, address, done); // no node of this process listens there
               });
}

} // namespace headrace::detail
