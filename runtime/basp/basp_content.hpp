#pragma once

#include "headrace/runtime/basp/basp_frame.hpp"

#include <optional>
#include <string_view>

namespace headrace::detail {

/// Reads a payload step by step, never beyond its end. Sizes are compared with the number of
/// remaining bytes, so that later readers of the payload need not check them. A step that fails
/// returns nullopt or false, and then all further steps fail.
class basp_content {
public:
  explicit basp_content(std::span<const char> bytes) : rest_(bytes) {}

  std::optional<uint8_t> byte();
  std::optional<uint16_t> half();
  std::optional<uint64_t> word();
  /// A count in groups of seven bits, the lowest group first.
  std::optional<size_t> count();
  std::optional<std::string_view> text();
  bool skip(size_t bytes);

  /// The name of a node as CAF makes it by default: a process id and a host id, neither zero.
  std::optional<basp_node> node();
  /// A list of at most `most` texts: their count, and then the texts.
  bool texts(size_t most);
  /// A message of the framework of a kind that headrace nodes send to actors: an envelope, or, if
  /// `may_be_error`, the report that a request failed.
  bool message(bool may_be_error);
  /// The framework's error: code, category, and a context of simple values.
  bool error();

  bool at_end() const noexcept { return !failed_ && rest_.empty(); }

private:
  const char* take(size_t bytes);
  template <class T>
  std::optional<T> number();
  std::optional<std::string_view> types();
  bool error(int depth);
  bool values(int depth);
  bool value(std::string_view type, int depth);

  std::span<const char> rest_;
  bool failed_ = false;
};

/// The number of CAF's spawn server in the protocol. Programs that use CAF send messages to this
/// actor. headrace does not use the actor, so these messages are dropped; messages to other named
/// receivers are refused.
inline constexpr uint64_t basp_spawn_server = 0x3DDD66F3376ADFB;
/// The number, in the protocol, of the kind of node name that CAF makes by default (see `node`).
inline constexpr uint64_t basp_usual_node = 0x3E9AAB9BAC79;

} // namespace headrace::detail
