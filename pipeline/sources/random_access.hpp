#pragma once

#include "headrace/pipeline/iterator/engine.hpp"

#include <span>

namespace headrace::detail {

/// The rows of a source by their numbers, in any order.
class random_access {
public:
  virtual ~random_access() = default;
  virtual uint64_t rows() const noexcept = 0;
  /// Of what the rows are, where another process may find something else; null: the same
  /// everywhere.
  virtual std::shared_ptr<const split_listing> listing() const { return nullptr; }
  /// One row of each number, in the order of the numbers, all below `rows()`; fewer if they take
  /// more than `bytes`, one at least. A row that cannot be read is an error row.
  virtual block read(std::span<const uint64_t> numbers, size_t bytes, uint64_t& kernel_calls) = 0;
};

/// The records of files, for `source_facts::open_any_order`. Looks for where they begin.
result<std::unique_ptr<random_access>> open_indexed_tfrecords(const dataset_node& node,
                                                              const column& files);
result<std::unique_ptr<random_access>> open_fixed_length_records(const dataset_node& node,
                                                                 const column& files);

} // namespace headrace::detail
