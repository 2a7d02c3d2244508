#pragma once

#include "headrace/runtime/caf/watcher.hpp"
#include "headrace/runtime/node/connect_messages.hpp"
#include "headrace/runtime/node/node_impl.hpp"

#include <map>
#include <set>
#include <string>

namespace headrace::detail {

/// Connects on behalf of actors: it waits for the delay, probes the address, lets the framework
/// connect, and exchanges hellos. It handles any number of requests at a time, and never blocks.
class connector_state {
public:
  using handle_type = port::handle<caf::result<local<connection>>(local<connect_request>),
                                   caf::result<void>(local<connect_step>)>;
  static inline const char* name = "headrace.connector";

  connector_state(port::self_pointer<handle_type> self, node::impl& owner);
  /// Answers the pending requests, which the framework would leave unanswered.
  ~connector_state();
  port::behavior<handle_type> make_behavior();

private:
  struct attempt;
  using attempt_ptr = std::shared_ptr<attempt>;

  void begin(const attempt_ptr& x);
  void probe(const attempt_ptr& x);
  void join(const attempt_ptr& x);
  void greet(const attempt_ptr& x, published_actor whom);
  void keep(const std::string& where, const connection& found);
  void answer(const attempt_ptr& x, const result<connection>& with);
  void fail(const attempt_ptr& x, const status& why);
  caf::timespan left(const attempt_ptr& x) const;

  port::self_pointer<handle_type> self_;
  node::impl& owner_;
  port::watcher watcher_;
  /// Open connections with completed hellos, by address. Requests for these addresses need no
  /// probe.
  std::map<std::string, connection> reached_;
  std::set<attempt_ptr> under_way_;
};

} // namespace headrace::detail
