#include "headrace/client/internal/service_session.hpp"

#include "headrace/actors/consumer/link_pool.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/base/process_place.hpp"
#include "headrace/runtime/node/node.hpp"

#include <cstddef>
#include <memory>
#include <mutex>
#include <unistd.h>
#include <utility>

namespace headrace::detail {

namespace {

/// The session of the process, while there is a reference to it.
struct last_session {
  std::mutex mutex;
  std::weak_ptr<node> here;
  std::weak_ptr<link_pool> links;
};
last_session& last() {
  static last_session the;
  return the;
}

result<std::shared_ptr<link_pool>> links_of(node& here) {
  HEADRACE_ASSIGN(auto way, here.transports().find("nearest"));
  return std::make_shared<link_pool>(std::move(way), here.id(), process_place());
}

/// Takes over the reference and never releases it.
template <class T>
void keep_forever(std::shared_ptr<T> what) {
  using reference = std::shared_ptr<T>;
  alignas(reference) std::byte place[sizeof(reference)];
  std::construct_at(reinterpret_cast<reference*>(place), std::move(what));
}

} // namespace

service_session::~service_session() {
  if (owner == ::getpid())
    return;
  keep_forever(std::move(here));
  keep_forever(std::move(links));
}

result<std::shared_ptr<service_session>> service_session::open(const tls_options& tls) {
  if (!tls.enabled())
    return invalid_argument("session: certificate, key and ca_file are missing");
  auto out = std::make_shared<service_session>();
  out->owner = ::getpid();
  HEADRACE_ASSIGN(out->here, node::make(service_node(node_role::consumer, tls)));
  HEADRACE_ASSIGN(out->links, links_of(*out->here));
  return out;
}

result<service_session> service_session::of_process() {
  HEADRACE_ASSIGN(auto here, node::process(service_node(node_role::consumer)));
  auto& known = last();
  std::lock_guard lock{known.mutex};
  auto links = known.links.lock();
  if (!links || known.here.lock() != here) {
    HEADRACE_ASSIGN(links, links_of(*here));
    known.links = links;
    known.here = here;
  }
  return service_session{std::move(here), std::move(links), ::getpid()};
}

result<service_session> service_session::of(const std::shared_ptr<service_session>& given) {
  if (!given)
    return of_process();
  if (given->owner != ::getpid())
    return failed_precondition(
      "this process was forked from one that made the session: its threads did not come along. "
      "Make a session of its own in this process");
  return *given;
}

bool service_session::is_of_process(const node& here) {
  auto& known = last();
  std::lock_guard lock{known.mutex};
  return known.here.lock().get() == &here;
}

} // namespace headrace::detail
