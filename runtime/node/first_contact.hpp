#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace headrace {

/// Which failures of a first connection pass, and for how long they are waited out: servers and
/// trainers start in any order, and a dispatcher that is started again is away for a moment.
///
/// Final at once is what no waiting can heal: another version, something else that listens there.
/// A connection that ends while it is encrypted may be a process that ends; when that occurs some
/// times in a row, one of the two does not trust the other.
class first_contact {
public:
  /// `dispatcher`: its address; `option`: what bounds the wait, as people know it. Both are for
  /// messages.
  first_contact(std::string dispatcher, std::string option, duration limit, time_point now);

  /// An attempt failed. The error, if it is final; nullopt: try again.
  std::optional<status> failed(const status& why);
  /// It was reached, and has not answered yet.
  void reached() noexcept;
  /// When the time is up.
  time_point until() const noexcept { return until_; }
  /// What to say then: who, for how long, and the last reason.
  status late() const;
  /// True once, when somebody who looks on would like to know what is waited for.
  bool is_worth_a_word(time_point now);
  /// That word.
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
