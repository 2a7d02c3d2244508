#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace::detail {

/// Decides which failures of a first connection may be temporary, and for how long attempts are
/// repeated. Some failures are temporary, because servers and trainers may be started in any order,
/// and a dispatcher that is being restarted cannot be reached for a short time.
///
/// A failure is final if waiting cannot help, for instance because the dispatcher has another
/// version, or another program listens at the address. A TLS connection that ends early may belong
/// to a process that ends; if this happens several times in a row, it is assumed that one side does
/// not accept the other's certificate, and the failure is final.
class first_contact {
public:
  /// `dispatcher`: its address; `option`: the name of the limit for users. Both are for messages.
  first_contact(std::string dispatcher, std::string option, duration limit, time_point now);

  /// To be called after a failed attempt. Returns the error if it is final; nullopt: try again.
  std::optional<status> failed(const status& why);
  /// Discards the earlier failures. To be called when a connection to the dispatcher was made, even
  /// if the dispatcher has not answered yet.
  void reached() noexcept;
  /// The time at which the limit has passed.
  time_point until() const noexcept { return until_; }
  /// The error for a dispatcher that has not answered within the limit, with the address, the time,
  /// and the last reason.
  status late() const;
  /// Returns true once, when it is time to show the user a message about the wait.
  bool is_worth_a_word(time_point now);
  /// The text of the message about the wait.
  std::string word() const;

private:
  std::string dispatcher_, option_;
  duration limit_;
  time_point until_;
  time_point silent_until_;
  status last_;
  uint32_t refusals_ = 0; ///< the number of `unauthenticated` failures in a row
};

} // namespace headrace::detail
