#pragma once

#include "headrace/runtime/link/link.hpp"
#include "headrace/runtime/link/link_service.hpp"

#include <memory>
#include <string>

namespace headrace::detail {

/// Links between nodes of one process: messages are passed by pointer, and nothing is copied. The
/// hub owns the thread on which the handlers of its links run.
class local_hub {
public:
  /// The hub of this process: made by the first call, and destroyed with its last owner. A forked
  /// child has a hub of its own. Nodes listen on the hub under the addresses that other processes
  /// reach by a socket.
  static std::shared_ptr<local_hub> of_process();
  /// The hub of this process; null if there is none, which means that no node of this process
  /// listens on a hub.
  static std::shared_ptr<local_hub> present();

  local_hub();
  /// Closes all links and listeners, and joins the thread. Not to be called from a handler.
  ~local_hub();

  /// Accepts links under a name, until `stop_listening`. Fails if another listener has the name.
  status listen(const std::string& name, uint64_t node, link_accepted on_accepted);
  void stop_listening(const std::string& name);
  /// Connects to a name; `done` is called once on the hub's thread.
  void connect(const std::string& name, uint64_t node, link_connected done);

private:
  class impl;
  std::shared_ptr<impl> impl_;
};

} // namespace headrace::detail
