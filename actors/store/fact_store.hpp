#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <functional>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace headrace {

/// Where the facts are kept that make the durable state of a `Record`: decided, kept here, and only
/// then acted on. `Record` has a type `fact` and `apply(const fact&)`.
///
/// The store outlives those who write: of several, only the one that took over last.
template <class Record>
class fact_store {
public:
  using fact = typename Record::fact;
  /// What becomes of a group of facts. Called once, from any thread; must not block.
  using stored = std::function<void(const status&)>;
  /// What a new writer begins with.
  struct tenure {
    uint64_t writer = 0; ///< names it
    Record record;       ///< the state that all kept facts make
  };
  virtual ~fact_store() = default;
  /// From now on others cannot write.
  virtual tenure take_over() = 0;
  /// Keeps a group of facts, all of them or none, after what was appended before, to other stores
  /// of the same place, too; an empty one is kept when the groups before it are. The outcome where
  /// it is known at once, which is aborted for a writer that another one has taken over from;
  /// nullopt: it goes to `then`.
  virtual std::optional<status> append(uint64_t writer, std::vector<fact> group, stored then) = 0;
  /// The state that all facts make that were appended.
  virtual Record record() const = 0;
};

/// The facts that were appended to a store, and who may append more: the newer facts one by one,
/// the older ones as the state that they made. A `Record` whose facts hold much says how much:
/// `static size_t bytes_of(const fact&)`.
template <class Record>
class appended_facts {
public:
  using fact = typename Record::fact;
  /// How many facts are kept as such, and of what size.
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
  /// The state that all of them make.
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
  /// Of the facts that are kept as such.
  size_t bytes() const noexcept { return bytes_; }

private:
  uint64_t writer_ = 0;
  Record settled_;
  size_t most_;
  size_t most_bytes_;
  size_t bytes_ = 0;
  std::vector<fact> facts_;
};

/// Keeps facts as long as it lives itself. Thread-safe.
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
  /// Of the facts that are kept as such.
  size_t bytes() const {
    std::lock_guard lock{mutex_};
    return kept_.bytes();
  }

private:
  mutable std::mutex mutex_;
  appended_facts<Record> kept_;
};

} // namespace headrace
