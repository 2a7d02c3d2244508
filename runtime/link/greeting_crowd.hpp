#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace headrace {

/// The accepted connections that have not said yet who they are, or were turned away and are about
/// to be closed. Anybody can open such connections, and each costs a descriptor, so there are only
/// so many: with one too many the oldest has to go. Thread-safe.
class greeting_crowd {
public:
  using ticket = uint64_t;

  /// Lets one in. If that makes more than `most`, the oldest is taken out and its `drop` called, by
  /// the calling thread, without a lock. `drop` must not block.
  ticket enter(size_t most, std::function<void()> drop);
  /// From now on dropping it means this. Does nothing if it was taken out already.
  void replace(ticket which, std::function<void()> drop);
  /// It is none of the crowd any more. False if it was taken out already.
  bool leave(ticket which);
  size_t size() const;

private:
  mutable std::mutex mutex_;
  std::map<ticket, std::function<void()>> all_; // the oldest first
  ticket last_ = 0;
};

} // namespace headrace
