#pragma once

#include "headrace/pipeline/engine/held_input.hpp"
#include "headrace/pipeline/iterator/gather.hpp"

#include <deque>
#include <map>
#include <set>

namespace headrace::detail {

/// Rows collected by key, until their group is taken. The numbers of rows are those of a
/// `held_input`.
class open_groups {
public:
  struct group {
    /// Rows of one block of the input. They are copied unless they are most of the block.
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
  /// The number of rows in the group; 0 if there is none.
  uint64_t rows_of(int64_t key) const noexcept;
  /// The lowest number of a held row. @pre not empty
  uint64_t oldest() const noexcept { return *firsts_.begin(); }

  /// Adds the rows `runs` of `in` to a group; `first` is the number of row 0.
  void put(int64_t key, const block& in, const std::vector<row_run>& runs, uint64_t first,
           uint64_t& kernel_calls);
  /// Drops all but the last `rows` rows of a group.
  void keep_last(int64_t key, uint64_t rows);
  /// Appends the number of rows of each group to a position. Its parts are lists of keys and rows;
  /// later lists contain changes since the earlier ones. The cost depends on the number of changes
  /// since the last call, not on the number of open groups, because positions share the parts.
  void save_to(position& to) const;
  /// Reads the values that `save_to` wrote, with at most `most` rows for each group.
  static std::map<int64_t, uint64_t> saved_counts(position_reader& from, uint64_t most);
  /// Removes a group and returns its rows. @pre the group exists
  block take(int64_t key, uint64_t& kernel_calls) { return take(key, {}, {}, kernel_calls); }
  /// As above, with the rows `runs` of `in` at the end, which complete the group; the group may be
  /// empty before.
  block take(int64_t key, const block& in, std::vector<row_run> runs, uint64_t& kernel_calls);

private:
  std::map<int64_t, group> groups_;
  void changed(int64_t key);

  std::set<uint64_t> firsts_; ///< the lowest number of each group
  /// The saved lists of keys and rows, in the order of the keys; 0 rows: the group is closed. The
  /// first list has all groups, and each later one the changes.
  mutable std::vector<position_ptr> saved_;
  /// Keys that changed since the last list; empty if there is no list.
  mutable std::set<int64_t> changed_;
};

} // namespace headrace::detail
