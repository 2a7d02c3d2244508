#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <string>

namespace headrace {

/// The number in hexadecimal, without leading zeros.
std::string to_hex(uint64_t x);

/// A number that identifies things of one kind and does not convert to the number of another kind.
template <class Tag>
struct strong_id {
  uint64_t value = 0;

  constexpr strong_id() = default;
  constexpr explicit strong_id(uint64_t x) noexcept : value(x) {}
  /// Zero identifies nothing.
  explicit operator bool() const noexcept { return value != 0; }
  friend auto operator<=>(const strong_id&, const strong_id&) = default;
  /// The number in hexadecimal, as in all messages for users.
  friend std::string to_string(strong_id x) { return to_hex(x.value); }
};

using worker_id = strong_id<struct worker_tag>;
using job_id = strong_id<struct job_tag>;
using task_id = strong_id<struct task_tag>;
using consumer_id = strong_id<struct consumer_tag>;
/// The number of a life of something that keeps its id when it is restarted.
using incarnation = strong_id<struct incarnation_tag>;
/// The id that a client chooses for a request to create something, so that the client may repeat
/// the request.
using request_id = strong_id<struct request_tag>;

/// A random, practically unique, non-zero 64-bit number from the system's entropy.
uint64_t random_id();

} // namespace headrace

template <class Tag>
struct std::hash<headrace::strong_id<Tag>> {
  size_t operator()(const headrace::strong_id<Tag>& x) const noexcept {
    return std::hash<uint64_t>{}(x.value);
  }
};
