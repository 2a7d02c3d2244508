#pragma once

/// What the parts of the dispatcher's actor, and its jobs, need to read requests and write answers.

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <string>
#include <string_view>

namespace headrace {

/// An answer from the dispatcher's union; `fill` takes its builder.
template <class Fill>
envelope make_dispatcher_answer(uint64_t request, Fill&& fill) {
  return make_envelope(request, [&](schema::Envelope::Builder b) { fill(b.initDispatcher()); });
}

/// Tells a worker that a task is needed no more.
inline envelope stop_order(task_id which, const std::string& why) {
  return make_envelope(0, [&](schema::Envelope::Builder b) {
    auto stop = b.initWorker().initStopTask();
    stop.setTaskId(which.value);
    stop.setReason(why);
  });
}

inline std::string_view text_of(capnp::Text::Reader in) { return {in.cStr(), in.size()}; }
inline buffer bytes_of(capnp::Data::Reader in) { return buffer::copy_of(in.begin(), in.size()); }
inline capnp::Data::Reader data_of(const buffer& in) {
  return {reinterpret_cast<const kj::byte*>(in.data()), in.size()};
}

} // namespace headrace
