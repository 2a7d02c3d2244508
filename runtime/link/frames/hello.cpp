#include "headrace/runtime/link/frames/hello.hpp"

#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/schemas/link.capnp.h"
#include "headrace/schemas/text.hpp"

#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/exception.h>
#include <optional>

namespace headrace::detail {

buffer encode(const link_hello& x) {
  capnp::MallocMessageBuilder message;
  auto root = message.initRoot<schema::LinkHello>();
  root.setProtocolMajor(x.protocol_major);
  root.setProtocolMinor(x.protocol_minor);
  root.setNodeId(x.node_id);
  root.setBootId(text_of(x.boot_id));
  root.setRole(text_of(x.role));
  root.setPingEveryNs(static_cast<uint64_t>(x.ping_every.count()));
  auto words = capnp::messageToFlatArray(message);
  return buffer::copy_of(words.begin(), words.asBytes().size());
}

result<link_hello> decode_hello(const buffer& header) {
  std::optional<link_hello> out;
  uint64_t promised = 0;
  auto failure = kj::runCatchingExceptions([&] {
    kj::ArrayPtr<const capnp::word> words{reinterpret_cast<const capnp::word*>(header.data()),
                                          header.size() / sizeof(capnp::word)};
    capnp::FlatArrayMessageReader reader{words, {max_hello_bytes, 8}};
    auto root = reader.getRoot<schema::LinkHello>();
    link_hello x;
    x.protocol_major = root.getProtocolMajor();
    x.protocol_minor = root.getProtocolMinor();
    x.node_id = root.getNodeId();
    x.boot_id = string_of(root.getBootId());
    x.role = string_of(root.getRole());
    promised = root.getPingEveryNs();
    out = std::move(x);
  });
  if (failure != nullptr || !out)
    return invalid_argument("the peer's hello is not a Cap'n Proto LinkHello");
  if (promised > static_cast<uint64_t>(longest_ping_interval.count()))
    return invalid_argument("the peer's hello promises a ping every " + std::to_string(promised)
                            + " ns; at most an hour is allowed");
  out->ping_every = duration{static_cast<duration::rep>(promised)};
  return *std::move(out);
}

status check_version(const link_hello& peer) {
  if (peer.protocol_major == link_protocol_major)
    return {};
  auto text = [](uint16_t major, uint16_t minor) {
    return std::to_string(major) + "." + std::to_string(minor);
  };
  return failed_precondition(
    "the peer speaks version " + text(peer.protocol_major, peer.protocol_minor)
    + " of the data link's protocol, this node version "
    + text(link_protocol_major, link_protocol_minor) + "; both must have the same major version");
}

} // namespace headrace::detail
