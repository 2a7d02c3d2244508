#pragma once

#include "headrace/pipeline/iterator/choice_log.hpp"
#include "headrace/pipeline/iterator/position_reader.hpp"

#include <deque>
#include <optional>

namespace headrace::detail {

/// The order in which the rows of blocks are returned: that of the input, or that in which the
/// blocks are done. In the second case it logs its choices, and a restored order repeats them.
/// Blocks are numbered from 0 in the order of the input. Not thread-safe.
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

  /// True if it is fixed whose rows are the next ones: those of `next`, else of the first block.
  bool is_fixed() const noexcept { return kept_ || !order_.empty(); }
  /// The number of the block whose rows a restored order returns next.
  std::optional<uint64_t> next() const {
    return order_.empty() ? std::nullopt : std::optional{order_.front()};
  }
  /// The next block, if a restored order needs it as it was read before; else null.
  const read_block* planned() const { return planned_.empty() ? nullptr : &planned_.front(); }
  /// The number of the next block.
  uint64_t number() const noexcept { return number_; }

  /// The next block was read.
  void note_read(uint64_t rows);
  /// Rows of a block are returned, the first ones of it if `given` is 0.
  void note_choice(uint64_t number, uint64_t given);
  /// All rows of a block were returned.
  void note_end();
  /// The input has other data than before: nothing is repeated.
  void forget();

  /// Appends the numbers of a position. `blocks`: the last ones that were read, beginning with the
  /// first one that is read again.
  void save_to(position& to, std::vector<read_block> blocks) const;
  /// Reads the numbers. @pre no block was read
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
