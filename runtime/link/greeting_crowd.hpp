#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace headrace::detail {

/// The accepted connections that have not sent their hello yet, or were refused and are about to be
/// closed. Any program can open such connections, and each needs a descriptor, so their number is
/// bounded: if there are too many, the oldest is dropped. Thread-safe.
class greeting_crowd {
public:
  using ticket = uint64_t;

  /// Adds a connection. If there are more than `most` connections then, the oldest is removed and
  /// its `drop` is called, by the calling thread, while no lock is held. `drop` must not block.
  ticket enter(size_t most, std::function<void()> drop);
  /// Replaces the `drop` of a connection. Does nothing if it was removed already.
  void replace(ticket which, std::function<void()> drop);
  /// Removes a connection. False if it was removed already.
  bool leave(ticket which);
  size_t size() const;

private:
  mutable std::mutex mutex_;
  std::map<ticket, std::function<void()>> all_; // the oldest connection is the first
  ticket last_ = 0;
};

} // namespace headrace::detail
