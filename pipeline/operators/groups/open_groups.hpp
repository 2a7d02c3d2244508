#pragma once

#include "headrace/pipeline/engine/held_input.hpp"
#include "headrace/pipeline/iterator/gather.hpp"

#include <deque>
#include <map>
#include <set>

namespace headrace::detail {

/// Groups of rows with the same key; a group is open until it is taken. Rows have the numbers that
/// a `held_input` gives them.
class open_groups {
public:
  struct group {
    /// Rows of the group from one block of the input, with their numbers. They are copied unless
    /// they are at least half of the block, and adjacent.
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
  /// The number of rows in the group `key`; 0 if there is no such group.
  uint64_t rows_of(int64_t key) const noexcept;
  /// The lowest number of a held row. @pre not empty
  uint64_t oldest() const noexcept { return *firsts_.begin(); }

  /// Adds the rows `runs` of `in` to the group `key`; `first` is the number of row 0 of `in`.
  void put(int64_t key, const block& in, const std::vector<row_run>& runs, uint64_t first,
           uint64_t& kernel_calls);
  /// Drops all but the last `rows` rows of a group.
  void keep_last(int64_t key, uint64_t rows);
  /// Appends the key and number of rows of each group to a position, as lists in its parts. The
  /// first list has all groups that were open when it was made, and each later list the changes
  /// since the list before. The cost depends on the number of changes since the last call, not on
  /// the number of open groups, because positions share the lists.
  void save_to(position& to) const;
  /// Reads the values that `save_to` wrote: the number of rows for each key. A position with more
  /// than `most` rows in a group is refused.
  static std::map<int64_t, uint64_t> saved_counts(position_reader& from, uint64_t most);
  /// Removes a group and returns its rows. @pre the group exists
  block take(int64_t key, uint64_t& kernel_calls) { return take(key, {}, {}, kernel_calls); }
  /// As above, but adds the rows `runs` of `in`, which complete the group, at the end. The group
  /// need not exist before.
  block take(int64_t key, const block& in, std::vector<row_run> runs, uint64_t& kernel_calls);

private:
  std::map<int64_t, group> groups_;
  void changed(int64_t key);

  std::set<uint64_t> firsts_; ///< for each group the number of its first row
  /// The saved lists, each with the keys and numbers of rows in the order of the keys; 0 rows: the
  /// group was taken. The first list has all groups, and each later list the changes since the list
  /// before.
  mutable std::vector<position_ptr> saved_;
  /// Keys that changed since the last list; empty if there is no list.
  mutable std::set<int64_t> changed_;
};

} // namespace headrace::detail
