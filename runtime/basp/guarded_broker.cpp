#include "headrace/runtime/basp/guarded_broker.hpp"

#if HEADRACE_CAF_LEGACY

#  include "headrace/runtime/base/descriptors.hpp"

#  include <algorithm>
#  include <caf/io/all.hpp>
#  include <caf/make_type_erased_tuple_view.hpp>
#  include <cstring>
#  include <sys/socket.h>

namespace headrace::detail {
namespace {

using caf::io::connection_handle;
using fate = basp_verdict::fate;

/// A payload is read in pieces of this size.
constexpr size_t piece_bytes = size_t{256} << 10;

basp_node name_of(caf::actor_system& system, const caf::node_id& node) {
  std::vector<char> bytes;
  caf::binary_serializer sink{system, bytes};
  basp_node out{};
  if (sink(node) || bytes.size() != out.size())
    throw error{internal_error("the framework names nodes in another way than expected")};
  std::memcpy(out.data(), bytes.data(), out.size());
  return out;
}

int descriptor_of(connection_handle x) { return static_cast<int>(x.id()); }

} // namespace

guarded_broker::guarded_broker(caf::actor_config& config)
  : basp_broker(config), guard_(guard_of(system())), self_(name_of(system(), this_node())) {}

caf::behavior guarded_broker::make_behavior() {
  inner_ = basp_broker::make_behavior();
  caf::message_handler ours{
    [this](caf::io::new_data_msg& x) { on_data(x); },
    [this](const caf::io::new_connection_msg& x) { on_new(x); },
    [this](caf::connect_atom, caf::io::scribe_ptr& x, uint16_t) { on_connected(x->hdl()); },
    [this](const caf::io::connection_closed_msg& x) { on_closed(x.handle); },
    [this](caf::delete_atom, connection_handle x) { on_late_cleanup(x); },
    [this](caf::tick_atom, caf::actor_clock::time_point, caf::timespan, caf::timespan lease) {
      on_tick(lease);
    },
  };
  return ours.or_else(inner_);
}

void guarded_broker::pass_on() { inner_(current_mailbox_element()->content()); }

void guarded_broker::add(handle_type handle, side mine) {
  forget(handle);
  // If a closed connection had this handle and its cleanup has not run yet, the cleanup must run
  // before the new connection's handshake.
  if (late_cleanups_.contains(handle))
    connection_cleanup(handle, caf::sec::none);
  const auto number = ++last_number_;
  connections_.emplace(
    handle, connection{basp_frame_check{mine, self_}, number, clock().now(), {}, {}, {}});
  if (mine == side::accepted)
    ungreeted_.emplace(number, handle);
}

void guarded_broker::forget(handle_type handle) {
  const auto at = connections_.find(handle);
  if (at == connections_.end())
    return;
  ungreeted_.erase(at->second.number);
  connections_.erase(at);
}

void guarded_broker::on_new(const caf::io::new_connection_msg& x) {
  add(x.handle, side::accepted);
  if (lower_half_of_descriptors_taken(descriptor_of(x.handle)))
    return refuse(x.handle, basp_refusal::crowded, "half of the descriptors are in use");
  if (ungreeted_.size() > guard_.options().most_ungreeted)
    refuse(ungreeted_.begin()->second, basp_refusal::crowded,
           "too many connections had not finished their handshakes, and this one was the oldest");
  pass_on();
}

void guarded_broker::on_connected(handle_type handle) {
  add(handle, side::connected);
  pass_on();
}

void guarded_broker::on_closed(handle_type handle) {
  forget(handle);
  ++late_cleanups_[handle];
  pass_on();
}

void guarded_broker::on_late_cleanup(handle_type handle) {
  if (const auto at = late_cleanups_.find(handle); at != late_cleanups_.end() && --at->second == 0)
    late_cleanups_.erase(at);
  if (!valid(handle))
    pass_on();
}

void guarded_broker::on_tick(caf::timespan lease) {
  const auto now = clock().now();
  while (!ungreeted_.empty()) {
    const auto oldest = ungreeted_.begin()->second;
    if (connections_.at(oldest).since + guard_.options().greet_within >= now)
      break;
    refuse(oldest, basp_refusal::silent, "it did not greet in time");
  }
  // Connections on which nothing has arrived for the lease are closed here. The framework would
  // close them, too, but would keep their descriptors until the peers close them.
  std::vector<handle_type> lost;
  for (const auto& [handle, it] : ctx)
    if (lease > lease.zero() && it.last_seen + lease < now)
      lost.push_back(handle);
  for (const auto& handle : lost) end(handle, caf::sec::connection_timeout);
  pass_on();
}

void guarded_broker::refuse(handle_type handle, basp_refusal cause, const std::string& problem) {
  guard_.refused(cause, remote_addr(handle) + ":" + std::to_string(remote_port(handle)), problem);
  end(handle);
}

void guarded_broker::end(handle_type handle, caf::sec why) {
  forget(handle);
  connection_cleanup(handle, why);
  if (!valid(handle))
    return;
  // `close` by itself would wait for the peer to close its side.
  ::shutdown(descriptor_of(handle), SHUT_RDWR);
  close(handle);
}

void guarded_broker::read(handle_type handle, size_t bytes) {
  configure_read(handle, caf::io::receive_policy::exactly(std::min(bytes, piece_bytes)));
}

bool guarded_broker::pass_part(handle_type handle, std::vector<char>& bytes) {
  caf::io::new_data_msg part{handle, {}};
  part.buf.swap(bytes);
  auto content = caf::make_type_erased_tuple_view(part);
  inner_(content);
  part.buf.swap(bytes);
  if (valid(handle))
    return true;
  forget(handle);
  return false;
}

bool guarded_broker::carry_out(handle_type handle, const basp_verdict& verdict,
                               const basp_header& frame) {
  if (verdict.what == fate::refuse)
    refuse(handle, verdict.cause, std::string{verdict.problem} + ": " + to_string(frame));
  else if (verdict.what == fate::leave)
    end(handle);
  return verdict.what == fate::pass;
}

void guarded_broker::on_data(caf::io::new_data_msg& x) {
  const auto at = connections_.find(x.handle);
  if (at == connections_.end())
    return end(x.handle);
  auto& it = at->second;
  if (!it.frame) {
    if (const auto unread = wr_buf(x.handle).size(); unread > guard_.options().most_unread_bytes)
      return refuse(x.handle, basp_refusal::unread,
                    std::to_string(unread) + " bytes wait for it to read them");
    std::memcpy(it.header.data(), x.buf.data(), it.header.size());
    const auto frame = basp_header::parse(it.header);
    if (!carry_out(x.handle, it.check.header(frame), frame))
      return;
    if (frame.payload_bytes == 0) {
      pass_part(x.handle, x.buf);
      return;
    }
    it.frame = frame;
    return read(x.handle, frame.payload_bytes);
  }
  const auto frame = *it.frame;
  const bool at_once = it.payload.empty() && x.buf.size() == frame.payload_bytes;
  if (!at_once) {
    it.payload.insert(it.payload.end(), x.buf.begin(), x.buf.end());
    if (it.payload.size() < frame.payload_bytes) {
      if (it.check.greeted())
        set_context(x.handle); // records that the peer has sent something
      return read(x.handle, frame.payload_bytes - it.payload.size());
    }
  }
  it.frame.reset();
  std::vector<char> collected;
  collected.swap(it.payload);
  auto& payload = at_once ? x.buf : collected;
  header_.assign(it.header.begin(), it.header.end());
  const auto verdict = it.check.payload(frame, payload);
  if (it.check.greeted())
    ungreeted_.erase(it.number);
  // After a frame that is passed on, the framework requests the next header itself.
  if (carry_out(x.handle, verdict, frame)) {
    if (pass_part(x.handle, header_))
      pass_part(x.handle, payload);
  } else {
    read(x.handle, basp_header::bytes); // does nothing if the connection was closed
  }
}

} // namespace headrace::detail

#endif
