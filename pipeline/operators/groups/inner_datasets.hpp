#pragma once

#include "headrace/pipeline/engine/held_input.hpp"
#include "headrace/pipeline/engine/open.hpp"

namespace headrace::detail {

/// The dataset that a function makes of one row of an input.
struct inner_dataset {
  std::unique_ptr<iterator> rows; ///< the iterator of the dataset; null: `failed` has the error
  status failed;
  std::vector<origin> from; ///< the origin of the input row; empty if the row has none
  uint64_t row = 0;         ///< the number of the input row
};

/// The datasets that a function makes of the rows of an input. The arguments of their sources are
/// evaluated for whole blocks of rows.
class inner_datasets {
public:
  inner_datasets(engine& shared, const dataset_node& node, const place& at,
                 std::unique_ptr<iterator> input);

  /// Reads up to `rows` rows of the input if `next` has used all rows. False: the input has ended.
  bool fill(size_t rows, uint64_t& kernel_calls);
  /// The next row's dataset. @pre `fill` returned true
  inner_dataset next();

  /// The number of the row whose dataset is next.
  uint64_t row() const noexcept { return row_; }
  /// Records that rows before `row` need not be read again.
  void release_before(uint64_t row) noexcept { input_.release_before(row - first_); }
  /// Appends the point from which the datasets of `row` and later rows can be made again. @pre
  /// `row` was not released
  void save_to(position& to, uint64_t row) const;
  status restore(position_reader& from);
  /// Drops rows until `row` is next. `data_loss` if there are fewer rows.
  status skip_to(uint64_t row, uint64_t& kernel_calls);
  /// The dataset of row `row`, which may be later than the next row; the datasets of the rows
  /// between are not made. `data_loss` if there is no such row.
  result<inner_dataset> next_of(uint64_t row, uint64_t& kernel_calls);

private:
  struct source {
    const dataset_node* node;
    block values; ///< the arguments for all rows of `rows_`
    program compute;
  };

  void find_sources(const dataset_node& graph);

  engine& engine_;
  const dataset_node& node_;
  place at_;
  held_input input_;
  bool ended_ = false;
  std::vector<source> sources_;
  block rows_;
  size_t next_ = 0;
  uint64_t row_ = 0;   ///< the number of the row at index `next_` of `rows_`
  uint64_t first_ = 0; ///< the number of the first row that `input_` returns
};

/// Gives every row of `rows` the origin `from` (or none).
void set_origin(block& rows, const std::vector<origin>& from);

} // namespace headrace::detail
