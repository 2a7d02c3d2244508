#pragma once

#include "headrace/runtime/base/result.hpp"
#include "tests/actors/world/virtual_process.hpp"

#include <array>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <tuple>
#include <vector>

namespace headrace::detail::test {

/// The kind of a connection: to the dispatcher (control), or of a trainer to a worker (data).
enum class plane : uint8_t { control, data };

class virtual_network;

/// A connection between two processes. Each direction keeps the order of its messages. The two ends
/// close at different times.
struct connection {
  struct end {
    virtual_process* who = nullptr;
    uint64_t life = 0;
    bool open = true;
    std::function<void(const status&)> on_closed;
    // The arrival time of the last message that this end sent.
    time_point last_arrival{};
    std::deque<std::function<void()>> held; ///< sent messages, while the direction is swallowed
    /// The time since which the other end has received nothing from this end.
    std::optional<time_point> silent_since;
  };
  virtual_network* network = nullptr;
  plane which = plane::control;
  duration longest_delay{}; ///< the longest delay of a message over this connection
  std::array<end, 2> ends;
};
using connection_ptr = std::shared_ptr<connection>;

/// One end of a connection; the process at this end holds the object.
struct connection_end {
  connection_ptr over;
  size_t side = 0;
  explicit operator bool() const noexcept { return over && over->ends[side].open; }
};

/// Joins processes: delays messages, cuts connections, swallows messages in one direction, refuses
/// connections. A swallowed direction delivers nothing. Its messages arrive when it is healed,
/// because TCP sends them again, unless the connection was closed before.
class virtual_network {
public:
  struct options {
    duration longest_delay = std::chrono::milliseconds{2};
    /// The largest difference between the longest delays of two connections: a message may arrive
    /// later than one that was sent after it over another connection.
    duration spread{};
    /// If set, each message takes exactly this time, and it takes twice this time to connect. So
    /// the duration of a conversation is a number of round trips.
    std::optional<duration> always;
    /// An end closes its connection if it receives nothing for this time; zero: never.
    duration control_silence = std::chrono::seconds{5};
    duration data_silence = std::chrono::seconds{5};
  };
  virtual_network(simulation& time, options what) : time_(time), options_(what) {}

  using connected = std::function<void(result<connection_end>)>;
  /// `accepted` is called at `to`, then `done` at `from`.
  void connect(plane which, virtual_process& from, virtual_process& to,
               std::function<void(connection_end)> accepted, connected done);
  /// Sends a message: `what` is called at the other end. Returns false if this end is closed.
  bool send(const connection_end& from, std::function<void()> what);
  /// Closes the connection at the end `by`. The other end notices this later.
  void close(const connection_end& by, const status& why);

  // -- faults ---------------------------------------------------------------------------

  /// Ends all connections between the two, and refuses others until `heal`.
  void cut(plane which, virtual_process& a, virtual_process& b);
  /// Refuses connections between the two until `heal`; existing ones continue.
  void refuse(plane which, virtual_process& a, virtual_process& b);
  /// Messages from `from` to `to` are held back until `heal`.
  void swallow(plane which, virtual_process& from, virtual_process& to);
  void heal(plane which, virtual_process& a, virtual_process& b);
  void heal_all();
  /// To be called after the process was stopped, continued or died.
  void changed(virtual_process& who);

  uint64_t messages() const noexcept { return messages_; }

private:
  struct path {
    bool refuses = false;
    std::set<virtual_process*> swallowed; ///< processes whose messages are held back
  };
  using path_key = std::tuple<plane, virtual_process*, virtual_process*>;
  void attempt(plane which, virtual_process& from, virtual_process& to,
               std::function<void(connection_end)> accepted, connected done, duration waited,
               duration delay);
  path& between(plane which, virtual_process& a, virtual_process& b);
  bool passes(const connection& c, size_t from);
  void deliver(const connection_ptr& c, size_t from, std::function<void()> what);
  void closed(const connection_ptr& c, size_t side, const status& why);
  void look(const connection_ptr& c);
  duration travel_time(duration longest) {
    return options_.always ? *options_.always : time_.between(duration{1000}, longest);
  }
  duration silence(plane which) const {
    return which == plane::control ? options_.control_silence : options_.data_silence;
  }

  simulation& time_;
  options options_;
  std::map<path_key, path> paths_;
  std::vector<connection_ptr> connections_;
  size_t clean_at_ = 64; ///< when there are so many connections, the closed ones are removed
  uint64_t messages_ = 0;
};

} // namespace headrace::detail::test
