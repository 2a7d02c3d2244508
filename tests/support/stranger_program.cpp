#include "headrace/runtime/node/caf_access.hpp"
#include "tests/support/stranger.hpp"

#include <caf/io/middleman.hpp>

#include <iostream>

/// A dispatcher of another major version: prints its address, and ends when its standard input is
/// closed.
int main() {
  using namespace headrace;
  using namespace headrace::detail;
  node server{{.role = node_role::dispatcher}};
  auto stranger = port::spawn<test::stranger_state>(system_of(server));
  adopt(server, caf::actor_cast<caf::actor>(stranger));
  const auto port = system_of(server).middleman().publish(stranger, 0, "127.0.0.1", true);
  if (!port)
    return 1;
  std::cout << "127.0.0.1:" << *port << std::endl;
  std::cin.get();
}
