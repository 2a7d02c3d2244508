#pragma once

#include "headrace/runtime/caf/watcher.hpp"
#include "headrace/runtime/node/node_impl.hpp"

namespace headrace::detail {

/// The actor that peers reach on a node's actor port. It answers hellos, counts and answers damaged
/// messages, refuses other major versions, and delegates all other messages to the root, the actor
/// that was given to `listen`. It ends when the root ends.
class door_state {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.door";

  door_state(port::self_pointer<handle_type> self, node::impl& owner, published_actor root);
  port::behavior<handle_type> make_behavior();

private:
  caf::result<envelope> on(const envelope& in);
  envelope on_hello(const envelope& in);
  envelope on_bad(const envelope& in);

  port::self_pointer<handle_type> self_;
  node::impl& owner_;
  published_actor root_;
  port::watcher watcher_;
};

} // namespace headrace::detail
