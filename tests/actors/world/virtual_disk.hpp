#pragma once

#include "headrace/actors/store/fact_store.hpp"
#include "tests/actors/world/virtual_process.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <utility>

namespace headrace::detail::test {

/// The disk of a process. Writes are completed after a time, in their order; writes that waited at
/// the same time are completed together. Writes that are not complete when the process dies are
/// lost.
class virtual_disk {
public:
  explicit virtual_disk(virtual_process& of) : of_(of) {}
  /// Returns the duration of the next write.
  std::function<duration()> takes = [] { return duration{0}; };

  void write(std::function<void()> kept) {
    waiting_.push_back(std::move(kept));
    if (!std::exchange(busy_, true))
      commit();
  }
  /// To be called when the process dies: drops the writes that are not complete.
  void forget() {
    waiting_.clear();
    busy_ = false;
  }

private:
  void commit() {
    of_.after(takes(), [this, count = waiting_.size()] {
      auto all = std::exchange(waiting_, {});
      for (size_t i = count; i < all.size(); ++i) waiting_.push_back(std::move(all[i]));
      all.resize(count);
      for (const auto& kept : all) kept();
      busy_ = !waiting_.empty();
      if (busy_)
        commit();
    });
  }

  virtual_process& of_;
  std::deque<std::function<void()>> waiting_;
  bool busy_ = false;
};

/// A store whose facts are written to a `virtual_disk`.
template <class Record>
class virtual_store final : public fact_store<Record>,
                            public std::enable_shared_from_this<virtual_store<Record>> {
public:
  using fact = typename Record::fact;
  using stored = typename fact_store<Record>::stored;
  /// `on_kept` is called with the facts that are stored.
  virtual_store(virtual_disk& disk, Record kept,
                std::function<void(const std::vector<fact>&)> on_kept = {})
    : disk_(disk), kept_(kept), appended_(std::move(kept)), on_kept_(std::move(on_kept)) {}

  typename fact_store<Record>::tenure take_over() override { return appended_.take_over(); }
  std::optional<status> append(uint64_t writer, std::vector<fact> group, stored then) override {
    if (!appended_.may_append(writer))
      return aborted("another writer has taken over");
    appended_.append(group);
    disk_.write(
      [this, lives = this->shared_from_this(), group = std::move(group), then = std::move(then)] {
        for (const auto& x : group) kept_.apply(x);
        if (on_kept_)
          on_kept_(group);
        then({});
      });
    return {};
  }
  Record record() const override { return appended_.record(); }
  /// The record that is stored when the process starts again.
  const Record& kept() const noexcept { return kept_; }

private:
  virtual_disk& disk_;
  Record kept_;
  appended_facts<Record> appended_;
  std::function<void(const std::vector<fact>&)> on_kept_;
};

} // namespace headrace::detail::test
