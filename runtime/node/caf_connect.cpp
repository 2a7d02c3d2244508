#include "headrace/runtime/node/caf_connect.hpp"

#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/peer.hpp"

#include <caf/scoped_actor.hpp>

namespace headrace::detail {

result<connection> connect(node& from, const address& to, duration limit, greeting how) {
  system_visit inside;
  caf::scoped_actor self{system_of(from)};
  result<connection> out = unavailable("the node ends");
  auto what = make_local<connect_request>(to, duration::zero(), limit, how);
  port::request(self.ptr(), connector_of(from), patience(*what), what)
    .receive([&](const local<connection>& x) { out = *x; },
             [&](const caf::error& why) { out = to_status(why); });
  return out;
}

result<envelope> ask(node& from, const published_actor& whom, const envelope& what,
                     duration limit) {
  system_visit inside;
  caf::scoped_actor self{system_of(from)};
  result<envelope> out = unavailable("the node ends");
  port::request(self.ptr(), whom, caf::timespan{limit}, what)
    .receive([&](const envelope& x) { out = x; },
             [&](const caf::error& why) { out = to_status(why); });
  if (out)
    HEADRACE_TRY(status_of(*out));
  return out;
}

} // namespace headrace::detail
