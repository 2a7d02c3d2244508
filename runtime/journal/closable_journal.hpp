#pragma once

#include "headrace/runtime/journal/journal.hpp"

#include <memory>
#include <mutex>
#include <utility>

namespace headrace::detail {

/// A journal with several owners. One of them closes it before the objects that its callbacks use
/// are destroyed. Thread-safe, as the journal is.
class closable_journal final : public journal {
public:
  explicit closable_journal(std::unique_ptr<journal> of) : open_(std::move(of)) {}

  /// Writes all queued changes, as the journal's destructor does. Later calls of `append` result in
  /// `aborted` at once. If no other call runs at the same time, the callbacks of all earlier calls
  /// have been called when this function returns.
  void close() {
    std::shared_ptr<journal> last;
    std::lock_guard lock{mutex_};
    last.swap(open_);
  }

  void append(uint64_t stream, buffer record, done then) override {
    if (const auto to = now())
      return to->append(stream, std::move(record), std::move(then));
    then(aborted("the journal is closed"));
  }
  void settle(uint64_t stream, buffer state) override {
    if (const auto to = now())
      to->settle(stream, std::move(state));
  }
  void drop(uint64_t stream) override {
    if (const auto to = now())
      to->drop(stream);
  }
  result<kept> recover(uint64_t stream) override {
    const auto from = now();
    return from ? from->recover(stream) : aborted("the journal is closed");
  }
  std::vector<uint64_t> streams() override {
    const auto of = now();
    return of ? of->streams() : std::vector<uint64_t>{};
  }

private:
  std::shared_ptr<journal> now() {
    std::lock_guard lock{mutex_};
    return open_;
  }

  std::mutex mutex_;
  std::shared_ptr<journal> open_;
};

} // namespace headrace::detail
