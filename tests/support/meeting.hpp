#pragma once

#include "tests/support/patience.hpp"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace headrace::detail::test {

/// A barrier, used repeatedly: threads wait until a number of them have arrived.
class meeting {
public:
  explicit meeting(size_t members) : members_(members) {}

  /// Waits for the other threads. Returns false if they did not arrive in time; from then on all
  /// calls return false.
  bool come() {
    std::unique_lock lock{mutex_};
    const auto mine = round_;
    if (++there_ == members_) {
      there_ = 0;
      ++round_;
      changed_.notify_all();
    }
    given_up_ =
      given_up_ || !changed_.wait_for(lock, patience, [&] { return round_ != mine || given_up_; });
    if (given_up_)
      changed_.notify_all();
    return !given_up_;
  }

private:
  const size_t members_;
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t there_ = 0;
  uint64_t round_ = 0;
  bool given_up_ = false;
};

} // namespace headrace::detail::test
