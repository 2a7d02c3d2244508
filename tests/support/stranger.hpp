#pragma once

#include "headrace/runtime/message/types.hpp"

namespace headrace::detail::test {

/// An actor that answers every hello as a node of another major version would.
class stranger_state {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.stranger";
  explicit stranger_state(port::self_pointer<handle_type>) {}
  port::behavior<handle_type> make_behavior() {
    return {[](const envelope& in) {
      return make_hello({.version = {9, 3}, .name = "dispatcher 1"}, in->getRequestId(), true);
    }};
  }
};

} // namespace headrace::detail::test
