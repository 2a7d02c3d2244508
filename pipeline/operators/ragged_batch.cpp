#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/operators/batch_columns.hpp"
#include "headrace/pipeline/operators/held_pieces.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// The rows' lengths along `axis`, row after row, those of inner rows too.
column lengths_along(const column& rows, size_t axis) {
  buffer_builder out;
  size_t count = 0;
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto dims = rows.shape_of(row);
    int64_t times = 1;
    for (size_t outer = 0; outer < axis; ++outer) times *= dims[outer];
    for (int64_t i = 0; i < times; ++i, ++count) out.push_back(dims[axis]);
  }
  return column::dense(dtype::int64, {static_cast<int64_t>(count)}, 1, out.finish());
}

/// The rows' values, one after another, as one row of `inner` parts.
column all_values(const column& rows, const shape& inner) {
  const auto size = *inner.elements();
  int64_t parts = 0;
  if (size != 0)
    parts = rows.total_values() / size;
  else // nothing tells but the shapes
    for (size_t row = 0; row < rows.rows(); ++row) {
      const auto dims = rows.shape_of(row).dims();
      int64_t n = 1;
      for (auto extent : dims.first(dims.size() - inner.rank())) n *= extent;
      parts += n;
    }
  const auto dims = inner.with_leading(parts);
  if (rows.is_string())
    return column::strings(dims, 1, rows.border_buffer(), rows.value_buffer(), rows.byte_base());
  return column::dense(rows.type(), dims, 1, rows.value_buffer());
}

/// A batch with a row that failed is one failed row, as of `batch`.
class ragged_batch_iterator final : public operator_iterator {
public:
  ragged_batch_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      rows_(std::move(input)),
      size_(static_cast<size_t>(node.count)) {}

protected:
  std::optional<block> produce(const limits&) override {
    rows_.fill(size_, most_bytes);
    if (rows_.held() == 0 || (rows_.held() < size_ && node_.flag))
      return std::nullopt;
    auto out = batched(rows_.all(kernel_calls_));
    rows_.drop(rows_.held());
    return out;
  }
  // A point of the input.
  void save_to(position& to) const override { put(to, rows_.point()); }
  status restore_from(position_reader& from) override { return rows_.restore(from); }

private:
  static constexpr size_t most_bytes = size_t{1} << 30;

  block batched(const block& rows) {
    const auto& specs = node_.inputs[0]->spec.components;
    block out;
    if (rows.errors.empty()) {
      out.rows = 1;
      for (size_t i = 0; i < specs.size(); ++i) {
        const auto& c = rows.columns[i];
        const auto axes = ragged_axes(specs[i].dims);
        const shape inner{specs[i].dims.dims().subspan(axes)};
        if (axes == 0) {
          block one;
          one.rows = rows.rows;
          one.columns = {c};
          out.columns.push_back(batch_rows(one, rows.rows).columns[0]);
          continue;
        }
        out.columns.push_back(all_values(c, inner));
        for (size_t axis = 0; axis < axes; ++axis) out.columns.push_back(lengths_along(c, axis));
        kernel_calls_ += axes;
      }
    } else {
      out = failure(rows.errors[0].why);
    }
    if (!rows.origins.empty()) // that of the last row
      append_origins(out.origins, rows.origins, rows.rows - 1, 1);
    return out;
  }

  held_pieces rows_;
  const size_t size_;
};

} // namespace

opened open_ragged_batch(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<ragged_batch_iterator>(shared, node, at);
}

} // namespace headrace::detail
