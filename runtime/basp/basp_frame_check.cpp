#include "headrace/runtime/basp/basp_frame_check.hpp"

namespace headrace::detail {
namespace {

using enum basp_refusal;
using fate = basp_verdict::fate;

constexpr basp_verdict refuse(basp_refusal cause, const char* problem) {
  return {fate::refuse, cause, problem};
}
constexpr basp_verdict pass{};
constexpr basp_verdict ignore{.what = fate::ignore};

// Bits in the id of a direct message. The first is set in responses, the second in messages that
// the receiver has already answered.
constexpr uint64_t response_bit = uint64_t{1} << 63;
constexpr uint64_t answered_bit = uint64_t{1} << 62;
/// Set in messages of the framework's streams, whose content the framework does not check.
constexpr uint64_t stream_bit = uint64_t{1} << 61;

/// The most names in each of the two lists in a server's handshake: names of programs, and of the
/// types of an actor's interface.
constexpr size_t most_names = 64;

} // namespace

basp_verdict basp_frame_check::header(const basp_header& x) const {
  const auto fine = [&](bool right, const char* problem) {
    return right ? pass : refuse(malformed, problem);
  };
  if (x.padding != 0)
    return refuse(malformed, "the padding is not zero");
  const bool greeting =
    x.is(basp_operation::server_handshake) || x.is(basp_operation::client_handshake);
  // A header of zeros is the last frame of a probe (runtime/node/probe.cpp).
  if (x == basp_header{} && side_ == side::accepted && !greeted())
    return {.what = fate::leave};
  if (!greeted() && !greeting)
    return refuse(out_of_turn, "a connection begins with a handshake");
  if (x.payload_bytes > (greeting ? longest_basp_greeting : longest_basp_payload))
    return refuse(oversized, "more is announced than the longest payload has");
  const bool ids = x.source_actor != 0 || x.dest_actor != 0;
  switch (static_cast<basp_operation>(x.operation)) {
  case basp_operation::server_handshake:
    if (side_ == side::accepted || greeted())
      return refuse(out_of_turn, "a server's handshake comes once, from who was connected to");
    return fine(x.flags == 0 && x.data == basp_version && !ids && x.payload_bytes != 0,
                "no server's handshake of this protocol");
  case basp_operation::client_handshake:
    if (side_ == side::connected || selected_)
      return refuse(out_of_turn, "a client's handshake comes from who connected, at most twice");
    return fine(x.flags == (greeted() ? basp_select_connection : 0) && x.data == 0 && !ids
                  && x.payload_bytes == basp_node_bytes,
                "no client's handshake, first or second");
  case basp_operation::direct_message:
    if ((x.data & (stream_bit | answered_bit)) != 0)
      return refuse(foreign, "a message of a stream, or one that was answered already");
    if ((x.flags & basp_named_receiver) != 0 && x.dest_actor != basp_spawn_server)
      return refuse(foreign, "an actor of that name takes nothing from other nodes");
    return fine(x.flags <= basp_named_receiver && x.dest_actor != 0 && x.payload_bytes != 0,
                "a message without receiver or content");
  case basp_operation::routed_message:
    return refuse(foreign, "messages are not passed on to other nodes");
  case basp_operation::monitor_message:
    return fine(x.flags == 0 && x.data == 0 && x.source_actor == 0 && x.dest_actor != 0
                  && x.payload_bytes == 2 * basp_node_bytes,
                "no question for the end of an actor");
  case basp_operation::down_message:
    return fine(x.flags == 0 && x.data == 0 && x.source_actor != 0 && x.dest_actor == 0
                  && x.payload_bytes > 2 * basp_node_bytes,
                "no word of the end of an actor");
  case basp_operation::heartbeat:
    return fine(x.flags == 0 && x.data == 0 && !ids && x.payload_bytes == 0,
                "a heartbeat has no content");
  }
  return refuse(malformed, "no such operation");
}

basp_verdict basp_frame_check::payload(const basp_header& x, std::span<const char> bytes) {
  const basp_content in{bytes};
  switch (static_cast<basp_operation>(x.operation)) {
  case basp_operation::server_handshake: return server_handshake(in);
  case basp_operation::client_handshake: return client_handshake(in);
  case basp_operation::direct_message: return direct_message(x, in);
  case basp_operation::monitor_message: return monitor_message(in);
  case basp_operation::down_message: return down_message(x, in);
  default: return refuse(malformed, "a payload where none can be");
  }
}

basp_verdict basp_frame_check::server_handshake(basp_content in) {
  const auto node = in.node();
  if (!node || !in.texts(most_names) || !in.word() || !in.texts(most_names) || !in.at_end())
    return refuse(malformed, "a server's handshake that cannot be read");
  peer_ = node; // this may be the name of this node: the framework then closes the connection
  return pass;
}

basp_verdict basp_frame_check::client_handshake(basp_content in) {
  const auto node = in.node();
  if (!node || !in.at_end())
    return refuse(malformed, "a client's handshake that cannot be read");
  // This node has connected to itself: the other side of the connection gets the server's handshake
  // and closes the connection.
  if (*node == self_)
    return ignore;
  if (!greeted())
    peer_ = node;
  else if (*node != *peer_)
    return refuse(impostor, "the second handshake names another node than the first");
  else
    selected_ = true;
  return pass;
}

basp_verdict basp_frame_check::direct_message(const basp_header& x, basp_content in) {
  if ((x.flags & basp_named_receiver) != 0)
    return ignore;
  // `stages`: the number of actors that forward the answer. headrace nodes use no such actors.
  const auto stages = in.count();
  if (!stages || *stages != 0)
    return refuse(foreign, "a message that is to be answered by way of others");
  // An error that is not a response would end the receiving actor.
  if (!in.message((x.data & response_bit) != 0) || !in.at_end())
    return refuse(foreign, "a message with another content than an envelope of its size");
  if (x.source_actor != 0 && senders_.insert(x.source_actor).second
      && senders_.size() > most_senders)
    return refuse(foreign, "messages of more actors than a node has");
  return pass;
}

bool basp_frame_check::from_peer_to_us(basp_content& in) const {
  const auto from = in.node();
  const auto to = in.node();
  return from && to && from == peer_ && *to == self_;
}

basp_verdict basp_frame_check::monitor_message(basp_content in) const {
  if (!from_peer_to_us(in))
    return refuse(impostor, "a question for the end of an actor, of or to another node");
  return pass;
}

basp_verdict basp_frame_check::down_message(const basp_header& x, basp_content in) {
  if (!from_peer_to_us(in))
    return refuse(impostor, "word of the end of an actor, of or to another node");
  if (!in.error() || !in.at_end())
    return refuse(malformed, "word of the end of an actor, without a reason that can be read");
  senders_.erase(x.source_actor);
  return pass;
}

} // namespace headrace::detail
