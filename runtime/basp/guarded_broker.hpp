#pragma once

#include "headrace/runtime/basp/basp_frame_check.hpp"
#include "headrace/runtime/basp/network_guard.hpp"

#if HEADRACE_CAF_LEGACY

#  include <array>
#  include <caf/io/basp_broker.hpp>
#  include <map>
#  include <optional>
#  include <unordered_map>
#  include <vector>

namespace headrace::detail {

/// The guard that `load_guarded_network` put into the system.
network_guard& guard_of(caf::actor_system& system);

/// The framework's broker, the actor that owns its connections, with a check of each frame before
/// the framework handles it. This class reads the frames, and their payloads in pieces, so that
/// memory grows only as bytes arrive, and passes the frames that the check allows to the framework.
class guarded_broker final : public caf::io::basp_broker {
public:
  explicit guarded_broker(caf::actor_config& config);

  caf::behavior make_behavior() override;
  const char* name() const override { return "headrace.guarded_broker"; }

  /// Does nothing. The framework's version starts an actor that requests the address of each new
  /// node's spawn server. headrace does not use this server, and the actor would never end.
  void learned_new_node_directly(const caf::node_id&, bool) override {}
  void learned_new_node_indirectly(const caf::node_id&) override {}

private:
  using handle_type = caf::io::connection_handle;
  using side = basp_frame_check::side;

  struct connection {
    basp_frame_check check;
    uint64_t number = 0;
    time_point since;
    std::optional<basp_header> frame; ///< the header of the frame whose payload is being read
    std::array<char, basp_header::bytes> header{};
    std::vector<char> payload; ///< the part of the payload that has arrived
  };

  void on_new(const caf::io::new_connection_msg& x);
  void on_connected(handle_type handle);
  void on_data(caf::io::new_data_msg& x);
  void on_closed(handle_type handle);
  void on_late_cleanup(handle_type handle);
  void on_tick(caf::timespan lease);

  void add(handle_type handle, side mine);
  void forget(handle_type handle);
  void refuse(handle_type handle, basp_refusal cause, const std::string& problem);
  void end(handle_type handle, caf::sec why = caf::sec::disconnect_during_handshake);
  /// Closes the connection if the verdict is `refuse` or `leave`. Returns true if the frame is to
  /// be passed to the framework; the caller then passes it.
  bool carry_out(handle_type handle, const basp_verdict& verdict, const basp_header& frame);
  void read(handle_type handle, size_t bytes);
  /// Lets the framework handle the present message of this actor.
  void pass_on();
  /// Passes a header or a payload to the framework. False if that closed the connection.
  bool pass_part(handle_type handle, std::vector<char>& bytes);

  network_guard& guard_;
  basp_node self_;
  caf::behavior inner_;
  std::unordered_map<handle_type, connection> connections_;
  /// Accepted connections whose peers have not sent a handshake, by number, the oldest first.
  std::map<uint64_t, handle_type> ungreeted_;
  /// For each handle, the number of closed connections that had it and that the framework has not
  /// cleaned up yet. Before the cleanup, a new connection may get the same handle.
  std::unordered_map<handle_type, size_t> late_cleanups_;
  uint64_t last_number_ = 0;
  std::vector<char> header_; ///< reused for all frames
};

} // namespace headrace::detail

#endif
