#pragma once

#include "headrace/runtime/node/connect_messages.hpp"

#include <memory>
#include <utility>

namespace headrace::detail::test {

/// Answers each request at once with the dispatcher that runs at present.
class scripted_connector {
public:
  using handle_type = connector_actor;
  static inline const char* name = "headrace.test.connector";
  scripted_connector(port::self_pointer<handle_type>, std::shared_ptr<published_actor> where)
    : where_(std::move(where)) {}
  port::behavior<handle_type> make_behavior() {
    return {[this](const local<connect_request>&) {
      return make_local<connection>(connection{*where_, {}});
    }};
  }

private:
  std::shared_ptr<published_actor> where_;
};

} // namespace headrace::detail::test
