#pragma once

#include "headrace/pipeline/iterator/gather.hpp"

namespace headrace::detail {

/// Copies small blocks into fewer, larger ones, so that the blocks in which kept rows arrived can
/// be freed. If `take` finds only one block, it returns that block without a copy.
class row_packer {
public:
  explicit row_packer(size_t bytes) : most_bytes_(bytes) {}

  void add(const block& rows) {
    rows_ += rows.rows;
    bytes_ += rows.bytes();
    pieces_.push_back(rows);
    pieces_.back().origins.clear();
  }
  bool full() const noexcept { return bytes_ >= most_bytes_ || rows_ >= most_rows; }
  bool empty() const noexcept { return pieces_.empty(); }
  /// The added rows, as one block. @pre not empty
  block take(uint64_t& kernel_calls) {
    std::vector<const block*> pieces;
    std::vector<row_run> runs;
    for (const auto& one : pieces_) {
      runs.push_back({static_cast<uint32_t>(pieces.size()), 0, static_cast<uint32_t>(one.rows)});
      pieces.push_back(&one);
    }
    auto out = gather_rows(pieces, runs, kernel_calls);
    pieces_.clear();
    rows_ = bytes_ = 0;
    return out;
  }

private:
  static constexpr size_t most_rows = size_t{1} << 16;
  size_t most_bytes_;
  std::vector<block> pieces_;
  size_t rows_ = 0, bytes_ = 0;
};

} // namespace headrace::detail
