#pragma once

#include "tests/runtime/link/link_fixture.hpp"

#include <utility>

namespace headrace::detail::test {

/// Two nodes with a link between them.
struct two_nodes {
  explicit two_nodes(link_options server = {},
                     link_options client = {.node_id = 22, .role = "consumer"})
    : there(std::move(server)), here(std::move(client)) {
    auto made = connect(here, there.port);
    EXPECT_TRUE(made.ok()) << to_string(made.status());
    if (!made)
      return;
    near.attach(*made);
    far.attach(there.accepted.take().value());
  }
  host there;
  link_service here;
  link_end near, far;
};

} // namespace headrace::detail::test
