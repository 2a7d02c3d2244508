#pragma once

#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"
#include "headrace/pipeline/operators/batches/held_batches.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

namespace headrace::detail {

/// The size of batches, which is determined before the first row is read.
struct batch_size {
  size_t rows;
  bool drop_remainder;
};

/// The size of the batches of `node` at the place `at`; an error if the size is not valid.
inline result<batch_size> size_at(engine& shared, const dataset_ptr& node, const place& at,
                                  const batch_parameters& how) {
  HEADRACE_ASSIGN(const auto rows, shared.number_of(node, at, how.rows));
  HEADRACE_TRY(check_size(node->op, "batch_size", rows));
  return batch_size{static_cast<size_t>(rows), how.drop_remainder};
}

/// Opens an operator whose iterator is made from (engine, node, size, input).
template <class Iterator>
opened open_batches(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(const auto size, size_at(shared, node, at, node->as<batch_parameters>()));
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<Iterator>(shared, *node, size, std::move(input))};
}

/// The number of rows of a batch, for `piece_facts::rows_together`; 0: the number is computed when
/// the graph runs (see `known_number`).
inline int64_t known_rows(const batch_parameters& how) { return how.rows.value_or(0); }

/// The cardinality of the batches of `x`, for `operator_record::cardinality`.
inline dataset_ptr number_of_batches(const dataset_ptr& x, const batch_parameters& how) {
  const auto size = number_of(*x, how.rows);
  return cardinality_by_finite(
    x, [&](const expr& n) { return how.drop_remainder ? n / size : (n + size - 1) / size; });
}

/// The base of operators that make one row of several consecutive rows of their input.
class batch_iterator : public operator_iterator {
public:
  batch_iterator(engine& shared, const dataset_node& node, batch_size size,
                 std::unique_ptr<iterator> input)
    : operator_iterator(shared, node), rows_(std::move(input), size.rows, size.drop_remainder) {}

protected:
  /// Makes one row of every `size` rows.
  virtual block batched(const block& rows, size_t size) = 0;

private:
  std::optional<block> produce(const limits& wanted) final {
    const auto in = rows_.next(wanted, kernel_calls_);
    return in ? std::optional{batched(in->rows, in->size)} : std::nullopt;
  }
  // Saves the point of the first held row, from which the input must be read again.
  void save_to(position& to) const final { put(to, rows_.point()); }
  status restore_from(position_reader& from) final { return rows_.restore(from); }

  held_batches rows_;
};

} // namespace headrace::detail
