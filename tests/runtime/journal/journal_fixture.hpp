#pragma once

#include "headrace/runtime/journal/sqlite_journal.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/scratch_directory.hpp"

#include <condition_variable>
#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace headrace::detail::test {

using namespace std::chrono_literals;

inline buffer bytes_of(const std::string& text) {
  return buffer::copy_of(text.data(), text.size());
}
inline std::string text_of(const buffer& x) {
  return {reinterpret_cast<const char*>(x.data()), x.size()};
}

/// Options for tests: a small reserve, short pauses before failed writes are repeated, and no
/// spacing of commits.
inline sqlite_journal_options quick(const std::string& directory) {
  return {.directory = directory,
          .reserve_bytes = 4096,
          .commit_spacing = duration::zero(),
          .full_pause = 1ms,
          .failed_pauses = {.first = 1ms, .longest = 5ms}};
}

/// Records the results of appends, in their order, and the reported states of the disk.
class outcomes {
public:
  /// Returns a callback for an append, which records its result under the name `what`.
  journal::done expect(std::string what = {}) {
    return [this, what = std::move(what)](const status& outcome) {
      std::lock_guard hold{mutex_};
      ends_.emplace_back(what, outcome);
      changed_.notify_all();
    };
  }
  std::function<void(status)> health() {
    return [this](const status& x) {
      std::lock_guard hold{mutex_};
      health_.push_back(x);
      changed_.notify_all();
    };
  }
  bool wait_for(size_t count) {
    std::unique_lock hold{mutex_};
    return changed_.wait_for(hold, patience, [&] { return ends_.size() >= count || given_up_; });
  }
  /// Ends `wait_for`: the remaining appends will have no results.
  void give_up() {
    std::lock_guard hold{mutex_};
    given_up_ = true;
    changed_.notify_all();
  }
  /// Waits until the newest reported state of the disk has this code.
  bool wait_for_health(status_code code) {
    std::unique_lock hold{mutex_};
    return changed_.wait_for(hold, patience,
                             [&] { return !health_.empty() && health_.back().code() == code; });
  }
  /// Waits until a reported state of the disk contains this text.
  bool wait_for_health(const std::string& text) {
    std::unique_lock hold{mutex_};
    return changed_.wait_for(hold, patience, [&] {
      return std::any_of(health_.begin(), health_.end(), [&](const status& x) {
        return x.message().find(text) != std::string::npos;
      });
    });
  }
  std::vector<std::pair<std::string, status>> ends() const {
    std::lock_guard hold{mutex_};
    return ends_;
  }
  std::vector<status> healths() const {
    std::lock_guard hold{mutex_};
    return health_;
  }
  size_t kept() const {
    std::lock_guard hold{mutex_};
    return static_cast<size_t>(
      std::count_if(ends_.begin(), ends_.end(), [](const auto& x) { return x.second.ok(); }));
  }

private:
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, status>> ends_;
  std::vector<status> health_;
  bool given_up_ = false;
};

/// The content of a journal: for each stream its state, or "-" if it has none, and then its
/// records.
using journal_texts = std::map<uint64_t, std::vector<std::string>>;

inline journal_texts texts_of(journal& from) {
  journal_texts out;
  for (const auto stream : from.streams()) {
    auto found = from.recover(stream).value();
    auto& texts = out[stream];
    texts.push_back(found.state ? text_of(*found.state) : "-");
    for (const auto& x : found.records) texts.push_back(text_of(x));
  }
  return out;
}

inline std::unique_ptr<journal> open(sqlite_journal_options options) {
  return open_sqlite_journal(std::move(options)).value();
}

/// Appends a record and waits until it is stored. Returns the result of the append.
inline status append(journal& to, uint64_t stream, const std::string& text) {
  auto said = std::make_shared<outcomes>();
  to.append(stream, bytes_of(text), [said](const status& x) { said->expect()(x); });
  return said->wait_for(1) ? said->ends().front().second : deadline_exceeded("not kept");
}

} // namespace headrace::detail::test
