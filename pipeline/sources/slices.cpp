#include "headrace/pipeline/operators/open.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// The rows of columns that are there already. A split is one row.
class slices_iterator final : public operator_iterator {
public:
  slices_iterator(engine& shared, const dataset_node& node, const place& at, block rows)
    : operator_iterator(shared, node),
      rows_(std::move(rows)),
      row_bytes_(rows_.rows == 0 ? 1 : std::max<size_t>(1, rows_.bytes() / rows_.rows)),
      splits_(shared, at, rows_.rows) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto more = splits_.here();
    if (!more)
      return last_failure(more.status());
    if (!*more)
      return std::nullopt;
    const auto now = **more;
    const auto most = std::max<size_t>(1, wanted.bytes / row_bytes_);
    const auto rows = std::min<size_t>({wanted.rows, most, now.count});
    auto out = rows_.slice(now.first, rows);
    if (splits_.provided())
      out.origins = {splits_.from(now.first, rows, rows == 1 ? 0 : 1)};
    splits_.pass(rows);
    return out;
  }
  void save_to(position& to) const override { splits_.save_to(to); }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    return {};
  }

private:
  block rows_;
  size_t row_bytes_;
  split_cursor splits_;
};

// One tensor as its rows along axis 0.
column along_axis(const column& tensor) {
  const auto whole = tensor.shape_of(0);
  const auto rows = static_cast<size_t>(whole[0]);
  const auto row = whole.without_leading();
  if (tensor.is_string())
    return column::strings(row, rows, tensor.border_buffer(), tensor.value_buffer(),
                           tensor.byte_base());
  return column::dense(tensor.type(), row, rows, tensor.value_buffer());
}

} // namespace

opened open_slices(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  block rows;
  rows.rows = 1;
  if (node->op == dataset_op::from_tensors)
    rows.columns = std::move(values);
  else
    for (size_t i = 0; i < values.size(); ++i) {
      const auto dims = values[i].shape_of(0);
      if (dims.is_scalar())
        return invalid_argument(fmt::format(
          "from_tensor_slices: tensor {} is a scalar; it needs an axis to slice along", i));
      const auto n = static_cast<size_t>(dims[0]);
      if (i != 0 && n != rows.rows)
        return invalid_argument(
          fmt::format("from_tensor_slices: tensor {} has {} rows, those before it {}; all need the "
                      "same",
                      i, n, rows.rows));
      rows.rows = n;
      rows.columns.push_back(along_axis(values[i]));
    }
  return std::unique_ptr<iterator>{
    std::make_unique<slices_iterator>(shared, *node, at, std::move(rows))};
}

} // namespace headrace::detail
