#pragma once

#include "headrace/pipeline/operators/batches/held_batches.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

/// The base of operators that make one row of every few rows of their input.
class batch_iterator : public operator_iterator {
public:
  batch_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : batch_iterator(shared, node, node.as<batch_parameters>(), std::move(input)) {}
  batch_iterator(engine& shared, const dataset_node& node, const batch_parameters& how,
                 std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      rows_(std::move(input), static_cast<size_t>(how.rows), how.drop_remainder) {}

protected:
  /// Makes a row of every `size` rows.
  virtual block batched(const block& rows, size_t size) = 0;

private:
  std::optional<block> produce(const limits& wanted) final {
    const auto in = rows_.next(wanted, kernel_calls_);
    return in ? std::optional{batched(in->rows, in->size)} : std::nullopt;
  }
  // Saves a point of the input: the first row that is held.
  void save_to(position& to) const final { put(to, rows_.point()); }
  status restore_from(position_reader& from) final { return rows_.restore(from); }

  held_batches rows_;
};

} // namespace headrace::detail
