#pragma once

#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/iterator/held_input.hpp"

#include <deque>
#include <map>
#include <set>

namespace headrace::detail {

/// Rows gathered by key, until a group of them is taken. Rows have the numbers of a `held_input`.
class open_groups {
public:
  struct group {
    /// Rows of one block of the input, copied unless they are most of it.
    struct piece {
      block rows;
      std::vector<uint64_t> numbers;
    };
    std::deque<piece> pieces;
    uint64_t rows = 0;
    uint64_t first() const { return pieces.front().numbers.front(); }
  };

  bool empty() const noexcept { return groups_.empty(); }
  size_t size() const noexcept { return groups_.size(); }
  auto begin() const noexcept { return groups_.begin(); }
  auto end() const noexcept { return groups_.end(); }
  /// 0 if there is no such group.
  uint64_t rows_of(int64_t key) const noexcept;
  /// The lowest number of a row that is held. @pre not empty
  uint64_t oldest() const noexcept { return *firsts_.begin(); }

  /// Adds the rows `runs` of `in` to a group; row 0 has the number `first`.
  void put(int64_t key, const block& in, const std::vector<row_run>& runs, uint64_t first,
           uint64_t& kernel_calls);
  /// Lets go of all but the last `rows` rows of a group.
  void keep_last(int64_t key, uint64_t rows);
  /// Appends to a position how many rows each group has: a number, and as many parts as it says,
  /// later ones say what changed. Costs what changed since the last time, not what is open:
  /// positions share the parts.
  void save_to(position& to) const;
  /// Reads that, up to `most` rows a group.
  static std::map<int64_t, uint64_t> saved_counts(position_reader& from, uint64_t most);
  /// All rows of a group, which is closed. @pre there is one
  block take(int64_t key, uint64_t& kernel_calls) { return take(key, {}, {}, kernel_calls); }
  /// The same, and after them the rows `runs` of `in`, which complete it; there may be none before.
  block take(int64_t key, const block& in, std::vector<row_run> runs, uint64_t& kernel_calls);

private:
  std::map<int64_t, group> groups_;
  void changed(int64_t key);

  std::set<uint64_t> firsts_; ///< of each group
  /// What was saved: keys and rows, in the order of the keys; 0 rows: not open any more. The first
  /// says what all were, each of the others what changed then.
  mutable std::vector<position_ptr> saved_;
  mutable std::set<int64_t> changed_; ///< since the last of them; empty if there are none
};

} // namespace headrace::detail
