#pragma once

#include "headrace/runtime/message/envelope.hpp"

namespace headrace::detail {

/// An envelope with an answer of the dispatcher; `fill` is called with the builder of its
/// DispatcherMessage.
template <class Fill>
envelope make_dispatcher_answer(uint64_t request, Fill&& fill) {
  return make_envelope(request, [&](schema::Envelope::Builder b) { fill(b.initDispatcher()); });
}

} // namespace headrace::detail
