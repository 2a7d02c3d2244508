#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/message/message.hpp"
#include "headrace/schemas/envelope.capnp.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace headrace {

/// A message of a published actor.
using envelope = message<schema::Envelope>;

struct protocol_version {
  uint16_t major = 0;
  uint16_t minor = 0;
  friend bool operator==(const protocol_version&, const protocol_version&) = default;
};
/// The protocol version of this build, which is written into every envelope.
inline constexpr protocol_version our_protocol{2, 0};

/// An envelope of our version: `fill(builder)` sets the arm.
template <class Fill>
envelope make_envelope(uint64_t request_id, Fill&& fill) {
  return envelope::make([&](schema::Envelope::Builder b) {
    b.setRequestId(request_id);
    b.getVersion().setMajor(our_protocol.major);
    b.getVersion().setMinor(our_protocol.minor);
    std::forward<Fill>(fill)(b);
  });
}

/// How a node introduces itself.
struct hello {
  protocol_version version = our_protocol;
  uint64_t node_id = 0;
  schema::Role role = schema::Role::UNKNOWN;
  std::string boot_id;
  std::string name;
};
/// The greeting, or with `answer` the answer to one.
envelope make_hello(const hello& who, uint64_t request_id, bool answer = false);
/// @pre `in` is a hello or a helloAck.
hello hello_of(const envelope& in);
/// Failed precondition, naming both versions, if the peer cannot be understood.
status check_version(const hello& peer);

envelope make_ok(uint64_t request_id = 0);
/// @pre `!why.ok()`
envelope make_failure(const status& why, uint64_t request_id = 0);
/// The answer to an arm that this build does not know. `role`: the role whose union has it; empty
/// for the envelope itself.
envelope make_unsupported(uint16_t arm, std::string_view role = {}, uint64_t request_id = 0);
/// The answer to bytes that are not a message; `count`: how many such messages the receiver has
/// had.
envelope make_bad_message(uint64_t count, std::string_view reason);

/// The status in an answer: ok for `ok` and for any role arm, else the failure. `badMessage` is
/// data loss, `unsupported` is unimplemented with both versions; for an invalid envelope it is the
/// reason.
status status_of(const envelope& answer);

} // namespace headrace
