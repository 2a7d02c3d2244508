#include "headrace/runtime/message/envelope.hpp"

#include "headrace/schemas/failure_codec.hpp"
#include "headrace/schemas/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

std::string to_string(protocol_version x) {
  return std::to_string(x.major) + "." + std::to_string(x.minor);
}

protocol_version version_of(schema::Version::Reader x) { return {x.getMajor(), x.getMinor()}; }

// Copies the bytes itself: Cap'n Proto's own setter takes a Text::Reader, whose bytes must be
// followed by a zero byte, and those of a string_view need not be.
void put(capnp::Text::Builder to, std::string_view from) {
  std::copy(from.begin(), from.end(), to.begin());
}

} // namespace

envelope make_hello(const hello& who, uint64_t request_id, bool answer) {
  return make_envelope(request_id, [&](schema::Envelope::Builder b) {
    auto out = answer ? b.initHelloAck() : b.initHello();
    out.getVersion().setMajor(who.version.major);
    out.getVersion().setMinor(who.version.minor);
    out.setNodeId(who.node_id);
    out.setRole(who.role);
    out.setBootId(text_of(who.boot_id));
    out.setName(text_of(who.name));
  });
}

hello hello_of(const envelope& in) {
  auto x = in->isHelloAck() ? in->getHelloAck() : in->getHello();
  return {version_of(x.getVersion()), x.getNodeId(), x.getRole(), string_of(x.getBootId()),
          string_of(x.getName())};
}

status check_version(const hello& peer) {
  if (peer.version.major == our_protocol.major)
    return {};
  return failed_precondition("peer " + (peer.name.empty() ? "" : "'" + peer.name + "' ")
                             + "speaks protocol " + to_string(peer.version) + ", this program "
                             + to_string(our_protocol)
                             + ": the major versions must be equal, update the older one");
}

envelope make_ok(uint64_t request_id) {
  return make_envelope(request_id, [](schema::Envelope::Builder b) { b.setOk(); });
}

envelope make_failure(const status& why, uint64_t request_id) {
  return make_envelope(request_id,
                       [&](schema::Envelope::Builder b) { write_failure(b.initFailure(), why); });
}

envelope make_unsupported(uint16_t arm, std::string_view role, uint64_t request_id) {
  return make_envelope(request_id, [&](schema::Envelope::Builder b) {
    auto out = b.initUnsupported();
    out.setArm(arm);
    out.getVersion().setMajor(our_protocol.major);
    out.getVersion().setMinor(our_protocol.minor);
    if (role.empty())
      out.setEnvelope();
    else
      put(out.initRole(static_cast<unsigned>(role.size())), role);
  });
}

envelope make_bad_message(uint64_t count, std::string_view reason) {
  return make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initBadMessage();
    out.setCount(count);
    put(out.initReason(static_cast<unsigned>(reason.size())), reason);
  });
}

status status_of(const envelope& answer) {
  HEADRACE_TRY(answer.status());
  switch (answer->which()) {
  case schema::Envelope::NONE: return data_loss("empty envelope");
  case schema::Envelope::FAILURE: return read_failure(answer->getFailure());
  case schema::Envelope::BAD_MESSAGE: {
    auto in = answer->getBadMessage();
    return data_loss("the peer could not read the message: " + string_of(in.getReason()));
  }
  case schema::Envelope::UNSUPPORTED: {
    auto in = answer->getUnsupported();
    auto where = in.isRole() ? string_of(in.getRole()) : std::string{"envelope"};
    return {status_code::unimplemented,
            "the peer speaks protocol " + to_string(version_of(in.getVersion()))
              + " and does not know message " + std::to_string(in.getArm()) + " of '" + where
              + "'; this program speaks " + to_string(our_protocol)};
  }
  default: return {};
  }
}

result<schema::DispatcherMessage::Reader> dispatcher_answer(const envelope& answer,
                                                            schema::DispatcherMessage::Which due) {
  HEADRACE_TRY(status_of(answer));
  if (!answer->isDispatcher())
    return data_loss("the dispatcher's answer has no content");
  const auto in = answer->getDispatcher();
  if (in.which() != due)
    return data_loss(fmt::format("the dispatcher answered with message {} where {} was due",
                                 static_cast<int>(in.which()), static_cast<int>(due)));
  return in;
}

} // namespace headrace::detail
