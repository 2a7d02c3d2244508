#pragma once

#include "headrace/runtime/link/link.hpp"

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// A link that keeps what is sent. It has no mutex: its users lock one before they send.
class kept_link final : public link {
public:
  bool send(link_message message) override {
    if (fails)
      throw std::runtime_error{"no memory for a message"};
    sent.push_back(std::move(message));
    if (on_send)
      on_send(sent.back());
    return true;
  }
  const link_limits& limits() const noexcept override { return most; }
  size_t queued_bytes() const override { return 0; }
  void close(status) override {}
  void set_handlers(link_handlers) override {}
  const std::string& peer_address() const override { return name_; }
  uint64_t peer_node() const override { return 1; }
  const std::string& peer_boot_id() const override { return name_; }
  const std::string& peer_role() const override { return name_; }

  link_limits most;
  bool fails = false; ///< `send` throws
  std::function<void(const link_message&)> on_send;
  std::vector<link_message> sent;

private:
  std::string name_ = "peer";
};

} // namespace headrace::detail::test
