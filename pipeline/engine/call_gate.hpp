#pragma once

#include "headrace/pipeline/engine/call_tuner.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>

namespace headrace::detail {

/// The number of calls of an operator that were allowed to run at a time, sampled each time the
/// operator returned rows.
struct call_log {
  std::atomic<uint64_t> looks{0}, sum{0};
  std::atomic<uint64_t>* now = nullptr; ///< set to the last sample; may be null
  /// The average; 1 if there was no sample.
  double mean() const noexcept {
    return looks == 0 ? 1 : static_cast<double>(sum) / static_cast<double>(looks);
  }
};

/// Limits the number of calls of one operator that run at a time: to a fixed number, or to the
/// number that a tuner chooses.
class call_gate {
public:
  /// More calls would only take memory, and sums of larger numbers could overflow.
  static constexpr size_t most_calls = size_t{1} << 20;

  explicit call_gate(size_t calls, std::shared_ptr<call_log> log = nullptr)
    : calls_(calls), log_(std::move(log)) {}
  /// The tuner chooses the number. It begins with `calls`, or with fewer if its budget is small.
  explicit call_gate(std::shared_ptr<call_tuner> tuner, std::shared_ptr<call_log> log = nullptr,
                     size_t calls = 1)
    : tuner_(std::move(tuner)), id_(tuner_->add(calls)), log_(std::move(log)) {}
  ~call_gate() {
    if (tuner_)
      tuner_->remove(id_);
  }
  call_gate(const call_gate&) = delete;
  call_gate& operator=(const call_gate&) = delete;

  /// The number of calls that may run at the moment.
  size_t calls() const { return std::min(tuner_ ? tuner_->calls(id_) : calls_, most_calls); }

  /// Waits until a call may run, and counts it as running until `release`.
  void acquire() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [this] { return running_ < calls(); });
    ++running_;
  }
  void release() {
    std::lock_guard lock{mutex_};
    --running_;
    changed_.notify_one();
  }

  /// Records that the operator's `next` waited from `began` to `ended` for `rows` rows of `bytes`
  /// bytes. To be called by one thread.
  void record(time_point began, time_point ended, size_t rows, size_t bytes) {
    if (log_) {
      const auto now = calls();
      ++log_->looks;
      log_->sum += now;
      if (log_->now != nullptr)
        *log_->now = now;
    }
    if (!tuner_)
      return;
    seen_.waited += ended - began;
    seen_.rows += rows;
    bytes_ += bytes;
    if (blocks_++ == 0)
      first_ = began;
    if (blocks_ < blocks_a_window)
      return;
    seen_.passed = ended - first_;
    seen_.bytes_a_call = bytes_ / blocks_;
    tuner_->observe(id_, seen_);
    seen_ = {};
    bytes_ = blocks_ = 0;
    std::lock_guard lock{mutex_};
    changed_.notify_all();
  }

private:
  static constexpr size_t blocks_a_window = 8;

  const size_t calls_ = 1;
  const std::shared_ptr<call_tuner> tuner_; ///< may be null
  const call_tuner::operator_id id_ = 0;
  const std::shared_ptr<call_log> log_; ///< may be null
  std::mutex mutex_;
  std::condition_variable changed_;
  size_t running_ = 0;
  // The following members are used only by the thread that calls `record`.
  call_tuner::window seen_;
  time_point first_;
  size_t bytes_ = 0, blocks_ = 0;
};

} // namespace headrace::detail
