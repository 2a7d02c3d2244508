#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/message/message.hpp"
#include "headrace/schemas/envelope.capnp.h"

#include <cstdint>
#include <string_view>
#include <utility>

namespace headrace::detail {

/// A message to a published actor, or the answer to such a message.
using envelope = message<schema::Envelope>;

struct protocol_version {
  uint16_t major = 0;
  uint16_t minor = 0;
  friend bool operator==(const protocol_version&, const protocol_version&) = default;
};
/// The protocol version of this build, which is written into every envelope.
inline constexpr protocol_version our_protocol{2, 0};

/// Makes an envelope with the version `our_protocol`; `fill(builder)` sets the union member.
template <class Fill>
envelope make_envelope(uint64_t request_id, Fill&& fill) {
  return envelope::make([&](schema::Envelope::Builder b) {
    b.setRequestId(request_id);
    b.getVersion().setMajor(our_protocol.major);
    b.getVersion().setMinor(our_protocol.minor);
    std::forward<Fill>(fill)(b);
  });
}

/// The data that a node sends about itself in a handshake.
struct hello {
  protocol_version version = our_protocol;
  uint64_t node_id = 0;
  schema::Role role = schema::Role::UNKNOWN;
  std::string boot_id;
  std::string name;
};
/// Makes a `hello`; with `answer` a `helloAck`, the answer to a hello.
envelope make_hello(const hello& who, uint64_t request_id, bool answer = false);
/// @pre `in` is a hello or a helloAck.
hello hello_of(const envelope& in);
/// Returns `failed_precondition`, with both versions, if the peer's version is not compatible.
status check_version(const hello& peer);

envelope make_ok(uint64_t request_id = 0);
/// @pre `!why.ok()`
envelope make_failure(const status& why, uint64_t request_id = 0);
/// The answer to the union member with the number `arm`, which this build does not define. `role`:
/// the role whose union has the member; empty if it is the union of the envelope itself.
envelope make_unsupported(uint16_t arm, std::string_view role = {}, uint64_t request_id = 0);
/// The answer to bytes that are not a message. `count`: the number of such messages that the
/// receiver has received.
envelope make_bad_message(uint64_t count, std::string_view reason);

/// The status in an answer. `failure` results in its status, `unsupported` in `unimplemented` with
/// both versions. `badMessage`, an envelope without content, and an invalid envelope result in
/// `data_loss` with the reason. All other union members result in ok.
status status_of(const envelope& answer);
/// The dispatcher's message in `answer`, which must be the union member `due`. The result is valid
/// as long as `answer`. Errors: that of `status_of`; `data_loss` if the answer is another message.
result<schema::DispatcherMessage::Reader> dispatcher_answer(const envelope& answer,
                                                            schema::DispatcherMessage::Which due);

} // namespace headrace::detail
