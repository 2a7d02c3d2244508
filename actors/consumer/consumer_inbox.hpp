#pragma once

#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link.hpp"

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

namespace headrace::detail {

/// Events of one consumer from the threads of its links and of its trainer, until they are handled.
/// Messages are handled in the order in which they arrived. Thread-safe; no member waits for an
/// event to be handled.
class consumer_inbox {
public:
  /// A message of a task.
  struct message {
    const link* from = nullptr;
    uint32_t channel = 0;
    /// The content; nullopt: `packed` has to be decoded first.
    std::optional<result<from_task>> said;
    link_message packed;
  };

  void push(message what) {
    std::lock_guard lock{mutex_};
    messages_.push_back(std::move(what));
  }
  /// The trainer has taken elements or began to wait.
  void push_trainer_moved() {
    std::lock_guard lock{mutex_};
    trainer_moved_ = true;
  }

  /// The next message, if it is decoded.
  std::optional<message> pop() {
    std::lock_guard lock{mutex_};
    if (messages_.empty() || !messages_.front().said)
      return std::nullopt;
    auto out = std::move(messages_.front());
    messages_.pop_front();
    return out;
  }
  bool pop_trainer_moved() {
    std::lock_guard lock{mutex_};
    return std::exchange(trainer_moved_, false);
  }

  /// The next message, if it has to be decoded first. It stays the next one until `decoded`.
  std::optional<link_message> packed() {
    std::lock_guard lock{mutex_};
    if (messages_.empty() || messages_.front().said)
      return std::nullopt;
    return messages_.front().packed;
  }
  /// The content of the message that `packed` returned.
  void decoded(result<from_task> what) {
    std::lock_guard lock{mutex_};
    messages_.front().said = std::move(what);
    decoding_ = false;
  }
  /// True if the next message has to be decoded, and no earlier call has returned true for it.
  bool starts_decoding() {
    std::lock_guard lock{mutex_};
    return !messages_.empty() && !messages_.front().said && !std::exchange(decoding_, true);
  }

  /// True if one of `pop`, `pop_trainer_moved` and `starts_decoding` would return something.
  bool has_work() {
    std::lock_guard lock{mutex_};
    return trainer_moved_ || (!messages_.empty() && (messages_.front().said || !decoding_));
  }
  void clear() {
    std::lock_guard lock{mutex_};
    messages_.clear();
    trainer_moved_ = decoding_ = false;
  }

private:
  std::mutex mutex_;
  std::deque<message> messages_;
  bool trainer_moved_ = false;
  bool decoding_ = false; ///< `starts_decoding` has returned true for the next message
};

} // namespace headrace::detail
