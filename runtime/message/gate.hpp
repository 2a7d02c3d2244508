#pragma once

#include "headrace/runtime/message/envelope.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace headrace {

/// What a published actor does first with each envelope: refuses what is not a message, counts it,
/// and answers for it. Not thread-safe: a part of one actor's state.
class message_gate {
public:
  /// `role`: the union in the envelope that this actor understands, e.g. "dispatcher".
  explicit message_gate(std::string_view role) : role_(role) {}

  /// The answer to an envelope that is damaged, empty or of another major version; nothing if the
  /// actor is to look at it.
  std::optional<envelope> refuse(const envelope& in);
  /// The answer to an arm of the envelope that the actor does not handle.
  envelope unsupported(const envelope& in);
  /// The answer to an arm of the role's own union that the actor does not handle.
  envelope unsupported(const envelope& in, uint16_t role_arm);

  uint64_t received() const noexcept { return received_; }
  uint64_t bad() const noexcept { return bad_; }
  uint64_t unknown() const noexcept { return unknown_; }

private:
  std::string role_;
  uint64_t received_ = 0;
  uint64_t bad_ = 0;
  uint64_t unknown_ = 0;
};

} // namespace headrace
