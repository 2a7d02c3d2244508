#pragma once

#include "headrace/pipeline/operators/open.hpp"

namespace headrace::detail {

/// One row of the input of a dataset function, with the dataset that it makes.
struct inner_dataset {
  std::unique_ptr<iterator> rows; ///< null: `failed` says why
  status failed;
  std::vector<origin> from; ///< of the row; empty or one
};

/// Gives the datasets that a function makes of the rows of an input. The arguments of their sources
/// are evaluated for whole blocks of rows.
class inner_datasets {
public:
  inner_datasets(engine& shared, const dataset_node& node, const place& at,
                 std::unique_ptr<iterator> input);

  /// Makes sure that there is a row, reading up to `rows` of them. False: there is none any more.
  bool fill(size_t rows, uint64_t& kernel_calls);
  /// The next row's dataset. @pre `fill` said true
  inner_dataset next();

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
  std::unique_ptr<iterator> input_;
  std::vector<source> sources_;
  block rows_;
  size_t next_ = 0;
  uint64_t count_ = 0; ///< rows so far
};

/// Gives every row of `rows` the origin `from` (or none).
void set_origin(block& rows, const std::vector<origin>& from);

} // namespace headrace::detail
