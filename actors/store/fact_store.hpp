#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Keeps the facts that make the durable state of a `Record`. Facts are decided on, kept here, and
/// only then acted on. `Record` has a type `fact` and `apply(const fact&)`.
///
/// The store outlives its writers. Only the writer that took over last may append.
template <class Record>
class fact_store {
public:
  using fact = typename Record::fact;
  /// Called once with the outcome for a group of facts, from any thread; must not block.
  using stored = std::function<void(const status&)>;
  /// The state with which a new writer begins.
  struct tenure {
    uint64_t writer = 0; ///< identifies the writer
    Record record;       ///< the state after all kept facts
  };
  virtual ~fact_store() = default;
  /// Begins the tenure of a new writer. Earlier writers cannot append any more.
  virtual tenure take_over() = 0;
  /// Keeps a group of facts, all of them or none, after all groups that were appended before to any
  /// store of the same journal. An empty group counts as kept when all groups that were appended to
  /// this store before are kept. If the outcome is known at once, it is returned, and `then` is not
  /// called (ok: the group is kept; aborted: another writer has taken over). Otherwise nullopt is
  /// returned, and `then` is called later with the outcome.
  virtual std::optional<status> append(uint64_t writer, std::vector<fact> group, stored then) = 0;
  /// The state after all appended facts.
  virtual Record record() const = 0;
};

/// The facts that were appended to a store, and its present writer. Newer facts are kept one by
/// one, older ones in the form of the state that they made. The bytes of facts are counted only if
/// `Record` has a function `static size_t bytes_of(const fact&)`, as records with large facts do.
template <class Record>
class appended_facts {
public:
  using fact = typename Record::fact;
  /// `most`, `most_bytes`: the most facts that are kept one by one, and the most bytes of these.
  explicit appended_facts(Record settled, size_t most = 1024, size_t most_bytes = size_t{4} << 20)
    : settled_(std::move(settled)), most_(most), most_bytes_(most_bytes) {}

  bool may_append(uint64_t writer) const noexcept { return writer == writer_; }
  void append(std::vector<fact> group) {
    if constexpr (requires(const fact& x) { Record::bytes_of(x); })
      for (const auto& x : group) bytes_ += Record::bytes_of(x);
    facts_.insert(facts_.end(), std::make_move_iterator(group.begin()),
                  std::make_move_iterator(group.end()));
    if (facts_.size() > most_ || bytes_ > most_bytes_)
      settle();
  }
  typename fact_store<Record>::tenure take_over() { return {++writer_, settle()}; }
  /// Applies all facts to the state, and returns it.
  const Record& settle() {
    for (const auto& x : facts_) settled_.apply(x);
    facts_.clear();
    bytes_ = 0;
    return settled_;
  }
  Record record() const {
    auto out = settled_;
    for (const auto& x : facts_) out.apply(x);
    return out;
  }
  /// The bytes of the facts that are kept one by one.
  size_t bytes() const noexcept { return bytes_; }

private:
  uint64_t writer_ = 0;
  Record settled_;
  size_t most_;
  size_t most_bytes_;
  size_t bytes_ = 0;
  std::vector<fact> facts_;
};

/// Keeps facts in memory, until it is destroyed. Thread-safe.
template <class Record>
class memory_store final : public fact_store<Record> {
public:
  using fact = typename Record::fact;
  explicit memory_store(Record empty, size_t most = 1024, size_t most_bytes = size_t{4} << 20)
    : kept_(std::move(empty), most, most_bytes) {}

  typename fact_store<Record>::tenure take_over() override {
    std::lock_guard lock{mutex_};
    return kept_.take_over();
  }
  std::optional<status> append(uint64_t writer, std::vector<fact> group,
                               typename fact_store<Record>::stored) override {
    std::lock_guard lock{mutex_};
    if (!kept_.may_append(writer))
      return aborted("another writer has taken over");
    kept_.append(std::move(group));
    return status{};
  }
  Record record() const override {
    std::lock_guard lock{mutex_};
    return kept_.record();
  }
  /// The bytes of the facts that are kept one by one.
  size_t bytes() const {
    std::lock_guard lock{mutex_};
    return kept_.bytes();
  }

private:
  mutable std::mutex mutex_;
  appended_facts<Record> kept_;
};

} // namespace headrace::detail
