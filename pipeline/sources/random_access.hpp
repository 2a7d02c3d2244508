#pragma once

#include "headrace/pipeline/engine/engine.hpp"

#include <span>

namespace headrace::detail {

/// Reads the rows of a source by their numbers, in any order.
class random_access {
public:
  virtual ~random_access() = default;
  virtual uint64_t rows() const noexcept = 0;
  /// The listing of the rows, if their numbers may mean other rows in another process; null: the
  /// numbers mean the same rows everywhere.
  virtual std::shared_ptr<const split_listing> listing() const { return nullptr; }
  /// Reads the rows with these numbers, in this order, all below `rows()`. Returns fewer, but at
  /// least one, if they take more than `bytes`. A row that cannot be read is an error row.
  virtual block read(std::span<const uint64_t> numbers, size_t bytes, uint64_t& kernel_calls) = 0;
};

/// The following two functions open the records of files, for `source_facts::open_any_order`. For
/// TFRecord files the offsets of all records are determined first.
result<std::unique_ptr<random_access>> open_indexed_tfrecords(const dataset_node& node,
                                                              const column& files);
result<std::unique_ptr<random_access>> open_fixed_length_records(const dataset_node& node,
                                                                 const column& files);

} // namespace headrace::detail
