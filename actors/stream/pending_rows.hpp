#pragma once

#include "headrace/actors/stream/fragment.hpp"

#include <deque>
#include <map>
#include <vector>

namespace headrace::stream {

/// Rows of a task that no consumer has: what came back first, in the order of production, then
/// what was produced and never sent.
class pending_rows {
public:
  void push_back(fragment f);
  /// Puts rows that came back in front, where their index belongs; joins what was one before.
  void put_back(fragment f);
  bool empty() const noexcept { return rows_ == 0; }
  uint64_t rows() const noexcept { return rows_; }
  uint64_t bytes() const noexcept { return bytes_; }
  /// Pieces it consists of.
  size_t pieces() const noexcept { return returned_.size() + fresh_.size(); }
  /// @pre `!empty()`
  const fragment& front() const noexcept;
  /// Takes at most `count` rows of the front piece. @pre `!empty() && count > 0`
  fragment take(uint32_t count);

private:
  std::map<uint64_t, fragment> returned_; ///< by index
  std::deque<fragment> fresh_;
  uint64_t rows_ = 0;
  uint64_t bytes_ = 0;
};

} // namespace headrace::stream
