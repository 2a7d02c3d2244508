#pragma once

#include "headrace/runtime/base/result.hpp"

#include <vector>

namespace headrace {

/// Where the facts are kept that make the durable state of a `Core`: decided, kept here, and only
/// then applied and acted on. `Core` has a type `fact` and `apply(const fact&)`.
template <class Core>
class fact_store {
public:
  using fact = typename Core::fact;
  virtual ~fact_store() = default;
  /// Keeps a group of facts, all of them or none.
  virtual status append(const std::vector<fact>& group) = 0;
  /// The state that all kept facts make.
  virtual result<Core> recover() const = 0;
};

/// Keeps them as long as it lives, and not one by one for ever: the older ones as the state that
/// they made. One user at a time.
template <class Core>
class memory_store final : public fact_store<Core> {
public:
  using fact = typename Core::fact;
  /// `unsettled`: how many facts are kept as such.
  explicit memory_store(Core empty, size_t unsettled = 1024)
    : settled_(std::move(empty)), most_(unsettled) {}

  status append(const std::vector<fact>& group) override {
    facts_.insert(facts_.end(), group.begin(), group.end());
    if (facts_.size() > most_) {
      for (const auto& x : facts_) settled_.apply(x);
      facts_.clear();
    }
    return {};
  }
  result<Core> recover() const override {
    auto out = settled_;
    for (const auto& x : facts_) out.apply(x);
    return out;
  }

private:
  Core settled_;
  size_t most_;
  std::vector<fact> facts_;
};

} // namespace headrace
