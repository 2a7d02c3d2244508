#include "headrace/runtime/node/door_actor.hpp"

namespace headrace::detail {

door_state::door_state(port::self_pointer<handle_type> self, node::impl& owner,
                       published_actor root)
  : self_(self), owner_(owner), root_(std::move(root)), watcher_(self) {
  watcher_.watch(root_, [this](const caf::error& why) { self_->quit(why); });
}

port::behavior<published_actor> door_state::make_behavior() {
  return {[this](const envelope& in) { return on(in); }};
}

caf::result<envelope> door_state::on(const envelope& in) {
  if (!in.valid())
    return on_bad(in);
  if (in->isHello())
    return on_hello(in);
  hello sender{.version = {in->getVersion().getMajor(), in->getVersion().getMinor()}};
  if (auto fine = check_version(sender); !fine)
    return make_failure(fine, in->getRequestId());
  return port::delegate(self_, root_, in);
}

envelope door_state::on_hello(const envelope& in) {
  auto peer = hello_of(in);
  // The answer contains the version of this node, so that a refused peer can report the reason,
  // too.
  if (auto fine = check_version(peer); !fine) {
    owner_.count.refused_hellos.add();
    owner_.options.log.warn("peer refused", {{"peer", peer.name}, {"why", fine.message()}});
  } else {
    owner_.count.hellos.add();
  }
  return make_hello(owner_.self(), in->getRequestId(), true);
}

envelope door_state::on_bad(const envelope& in) {
  auto count = owner_.count.bad_messages.add();
  auto reason = in.status().message();
  owner_.options.log.warn("damaged message", {{"count", count}, {"why", reason}});
  return make_bad_message(count, reason);
}

} // namespace headrace::detail
