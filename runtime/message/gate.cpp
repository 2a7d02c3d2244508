#include "headrace/runtime/message/gate.hpp"

namespace headrace {

std::optional<envelope> message_gate::refuse(const envelope& in) {
  ++received_;
  if (!in)
    return make_bad_message(++bad_, in.status().message());
  if (in->isNone())
    return make_bad_message(++bad_, "empty envelope");
  // A greeting is looked at whatever its version: its answer tells the peer ours.
  if (in->isHello() || in->getVersion().getMajor() == our_protocol.major)
    return std::nullopt;
  ++unknown_;
  return make_unsupported(static_cast<uint16_t>(in->which()), {}, in->getRequestId());
}

envelope message_gate::unsupported(const envelope& in) {
  ++unknown_;
  return make_unsupported(static_cast<uint16_t>(in->which()), {}, in->getRequestId());
}

envelope message_gate::unsupported(const envelope& in, uint16_t role_arm) {
  ++unknown_;
  return make_unsupported(role_arm, role_, in->getRequestId());
}

} // namespace headrace
