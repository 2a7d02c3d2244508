#pragma once

#include "headrace/actors/protocol/reader_messages.hpp"
#include "headrace/actors/protocol/worker_messages.hpp"
#include "headrace/actors/worker/worker_command.hpp"
#include "headrace/runtime/message/envelope.hpp"

#include <cstdint>
#include <map>
#include <string>

namespace headrace::detail::test {

/// The number of messages that a dispatcher and its jobs receive and send, and the bytes of their
/// envelopes, by kind.
class dispatcher_traffic {
public:
  struct amount {
    uint64_t messages = 0;
    uint64_t bytes = 0;
    amount& operator+=(const amount& x) {
      messages += x.messages;
      bytes += x.bytes;
      return *this;
    }
  };

  // -- messages received ----------------------------------------------------------------------

  void count(const open_iteration& what);
  void count(const reader_heartbeat& what);
  void count(const leave_iteration& what);
  void count(const splits_request& what);
  void count(const task_end& what);
  void count(const worker_registration& what);
  void count(const worker::heartbeat& what);

  // -- answers ----------------------------------------------------------------------------------

  void count(const status& how);
  void count(const iteration_view& what);
  void count(const lease_answer& what);
  void count(const worker_registered& what);
  void count(const heartbeat_heard& what);
  void count(const worker_drains& what);
  /// Other answers, such as those about datasets and saves, are not counted.
  template <class Other>
  void count(const Other&) {}

  // -- messages sent without a request ----------------------------------------------------------

  void count(const task_order& what, const buffer& graph);
  void count(const task_readers& what);
  void count_stop(task_id which, const std::string& why);
  void count_announcement(const iteration_view& what);

  /// Sets all counts to zero. Before the first call nothing is counted.
  void begin() {
    kinds_.clear();
    counts_ = true;
  }
  const std::map<std::string, amount>& kinds() const noexcept { return kinds_; }

private:
  template <class Fill>
  void add(const char* kind, Fill&& fill) {
    if (counts_)
      kinds_[kind] += {1, make_envelope(1, std::forward<Fill>(fill)).size_bytes()};
  }

  bool counts_ = false;
  std::map<std::string, amount> kinds_;
};

} // namespace headrace::detail::test
