#pragma once

#include "headrace/pipeline/iterator/engine.hpp"

namespace headrace::detail {

/// Says which splits a source reads next: all, in order, or what the context's provider gives.
class split_cursor {
public:
  /// `total`: splits in a pass.
  split_cursor(engine& shared, const place& at, uint64_t total);

  /// The next splits; nullopt: this pass is over. Splits past the end are left out.
  result<std::optional<split_range>> next();
  /// Do rows carry origins?
  bool provided() const noexcept { return provided_; }
  /// The origin of `rows` rows from `split` on, each `step` splits from the one before.
  origin from(uint64_t split, size_t rows, uint64_t step) const noexcept {
    return {static_cast<uint32_t>(rows), source_, pass_, split, step};
  }

private:
  engine& engine_;
  bool provided_ = false;
  uint32_t source_ = 0;
  uint64_t pass_ = 0;
  uint64_t total_;
  bool given_ = false;
};

} // namespace headrace::detail
