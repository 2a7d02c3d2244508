#pragma once

#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/runtime/link/transport_registry.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// A link whose other end is the test. It may be used by one thread only.
class scripted_link final : public link {
public:
  bool send(link_message message) override {
    if (!limits().check(message))
      return false;
    sent.push_back(std::move(message));
    return true;
  }
  const link_limits& limits() const noexcept override { return most; }
  size_t queued_bytes() const override { return 0; }
  void close(status why) override {
    closed = why;
    handlers.on_closed(why);
  }
  void set_handlers(link_handlers hear) override { handlers = std::move(hear); }
  const std::string& peer_address() const override { return name; }
  uint64_t peer_node() const override { return 1; }
  const std::string& peer_boot_id() const override { return name; }
  const std::string& peer_role() const override { return name; }

  /// The sent messages that are an `open`, with their channels.
  std::vector<std::pair<uint32_t, stream_message>> opened() const {
    std::vector<std::pair<uint32_t, stream_message>> out;
    for (const auto& x : sent)
      if (auto said = stream_message::parse(x.header); said->isOpen())
        out.emplace_back(x.channel, std::move(said));
    return out;
  }

  link_limits most;
  std::string name = "worker";
  link_handlers handlers;
  std::vector<link_message> sent;
  status closed;
};

/// Connects to any address at once. Keeps the newest link to each address.
class scripted_transport final : public transport {
public:
  ~scripted_transport() override {
    for (auto& [address, made] : links) made->handlers = {}; // the handlers may own this link
  }
  result<std::string> listen(const std::string&, link_accepted) override {
    return unimplemented("nobody listens here");
  }
  void connect(const std::string& address, link_connected done) override {
    auto& made = links[address];
    made = std::make_shared<scripted_link>();
    done(std::shared_ptr<link>{made});
  }

  std::map<std::string, std::shared_ptr<scripted_link>> links;
};

} // namespace headrace::detail::test
