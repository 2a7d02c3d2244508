#pragma once

#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/caf_connect.hpp"

namespace headrace::detail::test {

/// The request id at which `echo_state` throws an exception.
inline constexpr uint64_t crash_request = 666;

/// A root actor that answers each request but `crash_request` with ok.
class echo_state {
public:
  using handle_type = published_actor;
  static inline const char* name = "headrace.test.echo";

  explicit echo_state(port::self_pointer<handle_type>) {}
  port::behavior<handle_type> make_behavior() {
    return {[](const envelope& in) {
      if (in->getRequestId() == crash_request)
        throw error{internal_error("crash on demand")};
      return make_ok(in->getRequestId());
    }};
  }
};

inline published_actor spawn_echo(node& at) { return port::spawn<echo_state>(system_of(at)); }

/// Does the same as `headrace::ask`, but returns an answer with an error as an answer.
inline result<envelope> ask_raw(node& from, const published_actor& whom, const envelope& what) {
  system_visit inside;
  caf::scoped_actor self{system_of(from)};
  result<envelope> out = internal_error("no answer");
  port::request(self.ptr(), whom, caf::timespan{std::chrono::seconds{20}}, what)
    .receive([&](const envelope& x) { out = x; },
             [&](const caf::error& why) { out = to_status(why); });
  return out;
}

/// The address of a node that listens.
inline address address_of(const node& x) { return parse_address(x.actor_address()).value(); }

} // namespace headrace::detail::test
