#pragma once

#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/link/link.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <variant>

namespace headrace::detail {

/// The link of a channel is closed.
struct channel_cut {
  status why;
};

/// Keeps the events of one consumer that come from the threads of its links and of its trainer,
/// until they are handled. Events of channels (a channel is one stream's part of a link) are
/// handled in the order of their arrival. Thread-safe; no member waits for an event to be handled.
class consumer_inbox {
public:
  /// An event of a channel: a message of a task, or the end of the link.
  struct channel_event {
    const link* from = nullptr;
    uint32_t channel = 0;
    /// What has happened; nullopt: `packed` has to be decoded first.
    std::optional<std::variant<result<from_task>, channel_cut>> what;
    link_message packed;
  };

  void push(channel_event what) {
    std::lock_guard lock{mutex_};
    events_.push_back(std::move(what));
  }
  /// The trainer has taken elements or began to wait.
  void push_trainer_moved() {
    std::lock_guard lock{mutex_};
    trainer_moved_ = true;
  }

  /// Removes and returns the next event, unless it has to be decoded first.
  std::optional<channel_event> pop() {
    std::lock_guard lock{mutex_};
    if (events_.empty() || !events_.front().what)
      return std::nullopt;
    auto out = std::move(events_.front());
    events_.pop_front();
    return out;
  }
  bool pop_trainer_moved() {
    std::lock_guard lock{mutex_};
    return std::exchange(trainer_moved_, false);
  }

  /// The next event, if it is a message that has to be decoded first. It stays the next one until
  /// `decoded` has been called and `pop` returns it.
  std::optional<link_message> packed() {
    std::lock_guard lock{mutex_};
    if (!next_is_packed())
      return std::nullopt;
    return events_.front().packed;
  }
  /// Sets the content of the message that `packed` returned last. @pre `clear` was not called since
  /// then
  void decoded(result<from_task> what) {
    std::lock_guard lock{mutex_};
    events_.front().what = std::move(what);
    decoding_ = false;
  }
  /// True if the next event is a message that has to be decoded, and `starts_decoding` was not
  /// called for it.
  bool needs_decoding() {
    std::lock_guard lock{mutex_};
    return next_is_packed() && !decoding_;
  }
  /// Records that the actor will decode the next event, if that has to be decoded.
  void starts_decoding() {
    std::lock_guard lock{mutex_};
    decoding_ = next_is_packed();
  }

  /// True if there is an event that can be handled, or that needs decoding.
  bool has_work() {
    std::lock_guard lock{mutex_};
    return trainer_moved_ || (!events_.empty() && !(next_is_packed() && decoding_));
  }
  /// The number of events of channels.
  size_t size() {
    std::lock_guard lock{mutex_};
    return events_.size();
  }
  void clear() {
    std::lock_guard lock{mutex_};
    events_.clear();
    trainer_moved_ = decoding_ = false;
  }

private:
  bool next_is_packed() const { return !events_.empty() && !events_.front().what; }

  std::mutex mutex_;
  std::deque<channel_event> events_;
  bool trainer_moved_ = false;
  bool decoding_ = false; ///< `starts_decoding` was called for the next event
};

} // namespace headrace::detail
