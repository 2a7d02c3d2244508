#pragma once

#include "headrace/pipeline/iterator/choice_log.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <deque>
#include <optional>

namespace headrace::detail {

/// The order in which the rows of blocks are returned: the order of the input, or the order in
/// which the results of blocks are done. In the second case the choices are logged, and a restored
/// order repeats them. Blocks are numbered from 0 in the order of the input. Not thread-safe.
class block_order {
public:
  /// A block that was read.
  struct read_block {
    uint64_t rows = 0;
    uint64_t given = 0; ///< the number of rows of its result that were returned; or `all`
  };
  static constexpr uint64_t all = UINT64_MAX;

  /// `kept`: the order is that of the input.
  explicit block_order(bool kept) : kept_(kept) {}

  /// True if the block whose rows are returned next is fixed: it is block `next()`, or the first
  /// block if `next()` is empty.
  bool is_fixed() const noexcept { return kept_ || !order_.empty(); }
  /// The number of the block whose rows a restored order returns next; nullopt: no order was
  /// restored, or it is used up.
  std::optional<uint64_t> next() const {
    return order_.empty() ? std::nullopt : std::optional{order_.front()};
  }
  /// The block to read next, if a restored order needs it with the same rows as before; else null.
  const read_block* planned() const { return planned_.empty() ? nullptr : &planned_.front(); }
  /// The number of the block that is read next.
  uint64_t number() const noexcept { return number_; }

  /// Records that the next block was read, and has `rows` rows.
  void note_read(uint64_t rows);
  /// Records that rows of the result of block `number` are returned, after `given` rows of it that
  /// were returned before.
  void note_choice(uint64_t number, uint64_t given);
  /// Records that all rows of the result of a block were returned.
  void note_end();
  /// Drops the restored blocks and choices, because the input has other data than when the position
  /// was saved.
  void forget();

  /// Appends the numbers of a position. `blocks`: the last blocks that were read, beginning with
  /// the first one that a restored operator must read again.
  void save_to(position& to, std::vector<read_block> blocks) const;
  /// Reads the numbers that `save_to` appended. @pre no block was read
  void restore(position_reader& from);

private:
  void restore_choices(position_reader& from);

  const bool kept_;
  uint64_t number_ = 0;
  std::deque<read_block> planned_;
  std::deque<uint64_t> order_;
  choice_log log_;
};

} // namespace headrace::detail
