#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/status.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace headrace::detail::test {

/// The elements that a trainer was given and how it ended, in a file that both the trainer and the
/// test map into memory. The test may read it at any time, and it remains when the trainer ends, in
/// whatever way.
class reading_record {
public:
  /// Makes an empty record for that many elements. Throws std::runtime_error.
  static reading_record create(const std::string& file, uint64_t capacity) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    const bool sized = fd >= 0 && ::ftruncate(fd, static_cast<off_t>(size_of(capacity))) == 0;
    return {fd, sized ? size_of(capacity) : 0, file};
  }
  /// Opens an existing record. Throws std::runtime_error.
  static reading_record open(const std::string& file) {
    const int fd = ::open(file.c_str(), O_RDWR | O_CLOEXEC);
    return {fd, fd >= 0 ? static_cast<size_t>(::lseek(fd, 0, SEEK_END)) : 0, file};
  }
  reading_record(reading_record&& other) noexcept
    : at_(std::exchange(other.at_, nullptr)), bytes_(other.bytes_) {}
  reading_record& operator=(reading_record&&) = delete;
  ~reading_record() {
    if (at_ != nullptr)
      ::munmap(at_, bytes_);
  }

  // -- the trainer's side -----------------------------------------------------------

  /// Records an element that the trainer was handed. Elements beyond the capacity are counted and
  /// not stored.
  void add(int64_t element, time_point when) noexcept {
    const auto n = at_->count.load(std::memory_order_relaxed);
    if (n < capacity()) {
      elements()[n] = element;
      times()[n] = when.time_since_epoch().count();
    }
    at_->count.store(n + 1, std::memory_order_release);
  }
  /// Records the time at which the trainer calls `next`.
  void asks(time_point now) noexcept { at_->asked = now.time_since_epoch().count(); }
  void was_answered(time_point now) noexcept {
    const auto waited = now.time_since_epoch().count() - at_->asked;
    at_->longest_wait = std::max<int64_t>(at_->longest_wait, waited);
  }
  void remark(const std::string& text) noexcept { copy(text, at_->remark); }
  /// Records how the reading ended. The trainer calls no other function after this one.
  void end(const status& how) noexcept {
    at_->code = static_cast<uint32_t>(how.code());
    copy(how.message(), at_->message);
    at_->ended.store(1, std::memory_order_release);
  }

  // -- the test's side --------------------------------------------------------------

  uint64_t count() const noexcept { return at_->count.load(std::memory_order_acquire); }
  std::span<const int64_t> handed_out() const noexcept {
    return {elements(), std::min<uint64_t>(count(), capacity())};
  }
  /// The time of each element, by the machine's monotonic clock.
  std::span<const int64_t> handed_out_at() const noexcept {
    return {times(), std::min<uint64_t>(count(), capacity())};
  }
  /// To be called if the process was stopped when the record had `count` elements, and continued.
  /// The elements that the trainer took next have one time, which was read after the stop, but they
  /// may have been handed out before it. So they are given the time of the element before them.
  void was_stopped_at(uint64_t count) noexcept {
    const auto all = handed_out_at();
    if (count == 0 || count >= all.size())
      return;
    for (const auto when = all[count]; count < all.size() && all[count] == when; ++count)
      times()[count] = all[count - 1];
  }
  duration longest_wait() const noexcept { return duration{at_->longest_wait}; }
  std::string remark() const { return at_->remark; }
  std::optional<status> ended() const {
    if (at_->ended.load(std::memory_order_acquire) == 0)
      return {};
    const auto code = static_cast<status_code>(at_->code);
    return code == status_code::ok ? status{} : status{code, at_->message};
  }

private:
  /// A new file contains zeros: no elements, not ended.
  struct header {
    std::atomic<uint64_t> count;
    std::atomic<uint32_t> ended;
    uint32_t code;
    int64_t asked;
    int64_t longest_wait;
    char message[4096];
    char remark[4096];
  };

  reading_record(int fd, size_t bytes, const std::string& file) : bytes_(bytes) {
    void* at = bytes < sizeof(header)
                 ? MAP_FAILED
                 : ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
      ::close(fd);
    if (at == MAP_FAILED)
      throw std::runtime_error{"cannot map the record " + file};
    at_ = static_cast<header*>(at);
  }
  static size_t size_of(uint64_t capacity) {
    return sizeof(header) + 2 * capacity * sizeof(int64_t);
  }
  uint64_t capacity() const noexcept { return (bytes_ - sizeof(header)) / sizeof(int64_t) / 2; }
  int64_t* elements() const noexcept { return reinterpret_cast<int64_t*>(at_ + 1); }
  int64_t* times() const noexcept { return elements() + capacity(); }
  template <size_t N>
  static void copy(std::string_view text, char (&to)[N]) noexcept {
    const auto n = std::min(text.size(), N - 1);
    std::memcpy(to, text.data(), n);
    to[n] = 0;
  }

  header* at_ = nullptr;
  size_t bytes_ = 0;
};

} // namespace headrace::detail::test
