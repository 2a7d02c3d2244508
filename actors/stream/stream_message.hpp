#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/link/link.hpp"
#include "headrace/runtime/message/message.hpp"
#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/stream.capnp.h"

namespace headrace::detail {

/// A message of a stream, as it lies in the header of a link message.
using stream_message = message<schema::StreamMessage>;

/// Sends one message on a channel. False: the link is closed.
template <class Fill>
bool send_on(link& to, uint32_t channel, Fill&& fill, std::vector<buffer> payload = {}) {
  return to.send(
    {channel, stream_message::make(std::forward<Fill>(fill)).bytes(), std::move(payload)});
}

/// Reports to the other end of a channel that the stream is refused, or that it cannot continue.
inline bool send_failure(link& to, uint32_t channel, const status& why) {
  return send_on(to, channel,
                 [&](schema::StreamMessage::Builder b) { write_failure(b.initFailed(), why); });
}

} // namespace headrace::detail
