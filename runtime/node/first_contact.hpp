#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace {

/// Decides which failures of a first connection may pass, and for how long they are waited out:
/// servers and trainers start in any order, and a restarted dispatcher is away for a moment.
///
/// A failure is final if waiting cannot help: another version, or another program at the address. A
/// TLS connection that ends early may be a process that ends; if that happens several times in a
/// row, one side does not accept the other's certificate.
class first_contact {
public:
  /// `dispatcher`: its address; `option`: the user's name for the limit. Both are for messages.
  first_contact(std::string dispatcher, std::string option, duration limit, time_point now);

  /// An attempt failed. Returns the error if it is final; nullopt: try again.
  std::optional<status> failed(const status& why);
  /// The dispatcher was reached, and has not answered yet.
  void reached() noexcept;
  /// When the limit has passed.
  time_point until() const noexcept { return until_; }
  /// The error for that case: the address, the time, and the last reason.
  status late() const;
  /// True once, when it is time to inform the user what is waited for.
  bool is_worth_a_word(time_point now);
  /// The text for the user.
  std::string word() const;

private:
  std::string dispatcher_, option_;
  duration limit_;
  time_point until_;
  time_point silent_until_;
  status last_;
  uint32_t refusals_ = 0; ///< in a row
};

} // namespace headrace
