#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/pipeline/operators/batches/batch_columns.hpp"
#include "headrace/pipeline/operators/batches/batch_iterator.hpp"

namespace headrace::detail {

namespace {

int64_t product(std::span<const int64_t> extents) {
  int64_t out = 1;
  for (auto extent : extents) out *= extent;
  return out;
}

/// Builds a column of rows of one rank whose shapes may differ; the column is dense if all rows
/// have the same shape. `starts_`: the index of the first value of each row, then the number of
/// values.
class growing_rows {
public:
  explicit growing_rows(int64_t first) { starts_.push_back(first); }

  void add(int64_t end, std::vector<int64_t> dims) {
    alike_ = alike_ && (first_.empty() || dims == first_);
    if (first_.empty())
      first_ = dims;
    for (auto extent : dims) dims_.push_back(extent);
    starts_.push_back(end);
    ++rows_;
  }
  column numbers(dtype type, buffer values) && {
    if (alike_)
      return column::dense(type, shape{std::move(first_)}, rows_, std::move(values));
    return column::variable(type, first_.size(), rows_, std::move(values), starts_.finish(),
                            dims_.finish());
  }
  column strings(const column& of) && {
    if (alike_)
      return column::strings(shape{std::move(first_)}, rows_, of.border_buffer(), of.value_buffer(),
                             of.byte_base());
    return column::variable_strings(first_.size(), rows_, of.border_buffer(), of.value_buffer(),
                                    of.byte_base(), starts_.finish(), dims_.finish());
  }

private:
  size_t rows_ = 0;
  bool alike_ = true;
  std::vector<int64_t> first_;
  buffer_builder starts_, dims_;
};

/// A column with one row for each batch: the lengths along `axis`, one after another. For axis 0
/// each row of the batch has one length; for an inner axis it has one length for each index of the
/// axes before that axis.
column lengths_along(const column& rows, size_t size, size_t axis, const failed_batches& failed) {
  buffer_builder all;
  growing_rows out{0};
  int64_t end = 0;
  for (size_t b = 0; b * size < rows.rows(); ++b) {
    const auto begin = end;
    for (auto row = b * size; row < (b + 1) * size; ++row) {
      if (failed.at(b)) {
        if (axis == 0) {
          all.push_back(int64_t{0});
          ++end;
        }
        continue;
      }
      const auto dims = rows.shape_of(row);
      const auto times = product(dims.dims().first(axis));
      for (int64_t i = 0; i < times; ++i) all.push_back(dims[axis]);
      end += times;
    }
    out.add(end, {end - begin});
  }
  return std::move(out).numbers(dtype::int64, all.finish());
}

/// A column with one row for each batch: the values of the batch's rows, one after another, as a
/// tensor of parts of shape `inner`.
column all_values(const column& rows, size_t size, const shape& inner,
                  const failed_batches& failed) {
  const auto part = *inner.elements();
  growing_rows out{0};
  for (size_t b = 0; b * size < rows.rows(); ++b) {
    const auto end = rows.first_value((b + 1) * size);
    const auto values = end - rows.first_value(b * size);
    int64_t parts = 0;
    if (part != 0 && values % part == 0)
      parts = values / part;
    else if (failed.at(b)) { // a failed batch may have any shape with this number of values
      std::vector<int64_t> dims(inner.rank() + 1, 1);
      dims[0] = values;
      out.add(end, std::move(dims));
      continue;
    } else // the parts have no values, so their number follows only from the shapes of the rows
      for (auto row = b * size; row < (b + 1) * size; ++row) {
        const auto dims = rows.shape_of(row);
        parts += product(dims.dims().first(dims.rank() - inner.rank()));
      }
    std::vector<int64_t> dims{parts};
    dims.insert(dims.end(), inner.dims().begin(), inner.dims().end());
    out.add(end, std::move(dims));
  }
  return rows.is_string() ? std::move(out).strings(rows)
                          : std::move(out).numbers(rows.type(), rows.value_buffer());
}

/// A batch with an error row is one error row, as for `batch`.
class ragged_batch_iterator final : public batch_iterator {
public:
  using batch_iterator::batch_iterator;

private:
  block batched(const block& rows, size_t size) override {
    const auto& specs = node_.inputs[0]->spec.components;
    failed_batches failed{rows, size};
    std::vector<column> columns;
    for (size_t i = 0; i < specs.size(); ++i) {
      const auto& c = rows.columns[i];
      const auto axes = ragged_axes(specs[i].dims);
      if (axes == 0) {
        columns.push_back(batch_column(c, i, size, failed));
        continue;
      }
      columns.push_back(all_values(c, size, shape{specs[i].dims.dims().subspan(axes)}, failed));
      for (size_t axis = 0; axis < axes; ++axis)
        columns.push_back(lengths_along(c, size, axis, failed));
      kernel_calls_ += axes;
    }
    auto out = batches_without_columns(rows, size, failed);
    out.columns = std::move(columns);
    return out;
  }
};

void encode_ragged_batch(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<batch_parameters>();
  auto out = to.over_input(to.out.initRaggedBatch());
  out.setSize(own.rows.value_or(0));
  out.setDropRemainder(own.drop_remainder);
  to.computed(out);
}

result<dataset_ptr> decode_ragged_batch(node_reader& from) {
  const auto in = from.in.getRaggedBatch();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  HEADRACE_ASSIGN(const auto size, from.number(in.getSize(), in.getComputed()));
  return make_ragged_batch(std::move(rows), size, in.getDropRemainder());
}

int64_t rows_of_ragged_batch(const dataset_node& node) {
  return known_rows(node.as<batch_parameters>());
}

dataset_ptr cardinality_of_ragged_batch(const dataset_ptr& x) {
  return number_of_batches(x, x->as<batch_parameters>());
}

} // namespace

constinit const operator_record ragged_batch_record{
  .name = "ragged_batch",
  .arm = schema::Dataset::RAGGED_BATCH,
  .encode = encode_ragged_batch,
  .decode = decode_ragged_batch,
  .open = open_batches<ragged_batch_iterator>,
  .cardinality = cardinality_of_ragged_batch,
  .pieces = {piece_rule::together, taken_together, rows_of_ragged_batch},
};

} // namespace headrace::detail
