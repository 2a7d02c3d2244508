#pragma once

#include "headrace/runtime/base/result.hpp"

#include <vector>

namespace headrace {

/// Where the facts are kept that make the durable state of a `Record`: decided, kept here, and only
/// then applied and acted on. `Record` has a type `fact` and `apply(const fact&)`.
template <class Record>
class fact_store {
public:
  using fact = typename Record::fact;
  virtual ~fact_store() = default;
  /// Keeps a group of facts, all of them or none.
  virtual status append(const std::vector<fact>& group) = 0;
  /// The state that all kept facts make.
  virtual result<Record> recover() const = 0;
};

/// Keeps them as long as it lives, and not one by one for ever: the older ones as the state that
/// they made. A `Record` whose facts hold much says how much: `static size_t bytes_of(const
/// fact&)`. One user at a time.
template <class Record>
class memory_store final : public fact_store<Record> {
public:
  using fact = typename Record::fact;
  /// How many facts are kept as such, and of what size.
  explicit memory_store(Record empty, size_t most = 1024, size_t most_bytes = size_t{4} << 20)
    : settled_(std::move(empty)), most_(most), most_bytes_(most_bytes) {}

  status append(const std::vector<fact>& group) override {
    facts_.insert(facts_.end(), group.begin(), group.end());
    if constexpr (requires(const fact& x) { Record::bytes_of(x); })
      for (const auto& x : group) bytes_ += Record::bytes_of(x);
    if (facts_.size() > most_ || bytes_ > most_bytes_) {
      for (const auto& x : facts_) settled_.apply(x);
      facts_.clear();
      bytes_ = 0;
    }
    return {};
  }
  result<Record> recover() const override {
    auto out = settled_;
    for (const auto& x : facts_) out.apply(x);
    return out;
  }

  /// Of the facts that are kept as such.
  size_t bytes() const noexcept { return bytes_; }

private:
  Record settled_;
  size_t most_;
  size_t most_bytes_;
  size_t bytes_ = 0;
  std::vector<fact> facts_;
};

} // namespace headrace
