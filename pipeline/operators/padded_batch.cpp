#include "headrace/pipeline/operators/held_pieces.hpp"
#include "headrace/pipeline/operators/pad_rows.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

namespace {

/// A batch with a row that failed is one failed row, as of `batch`.
class padded_batch_iterator final : public operator_iterator {
public:
  /// `extent`: of axes whose padded one is unknown; `shape::unknown`: the largest of the batch.
  padded_batch_iterator(engine& shared, const dataset_node& node, int64_t extent,
                        std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      rows_(std::move(input)),
      size_(static_cast<size_t>(node.count)),
      fields_(node.fields) {
    for (auto& field : fields_) {
      std::vector<int64_t> dims{field.spec.dims.dims().begin(), field.spec.dims.dims().end()};
      std::replace(dims.begin(), dims.end(), shape::unknown, extent);
      field.spec.dims = shape{std::move(dims)};
    }
  }

protected:
  std::optional<block> produce(const limits&) override {
    rows_.fill(size_, most_bytes);
    if (rows_.held() == 0 || (rows_.held() < size_ && node_.flag))
      return std::nullopt;
    auto out = padded(rows_.all(kernel_calls_));
    rows_.drop(rows_.held());
    return out;
  }
  // A point of the input.
  void save_to(position& to) const override { put(to, rows_.point()); }
  status restore_from(position_reader& from) override { return rows_.restore(from); }

private:
  static constexpr size_t most_bytes = size_t{1} << 30;

  block padded(const block& rows) {
    block out;
    out.rows = 1;
    auto why = rows.errors.empty() ? status{} : rows.errors[0].why;
    for (size_t i = 0; why.ok() && i < rows.columns.size(); ++i) {
      auto c = pad_rows(rows.columns[i], fields_[i], i);
      ++kernel_calls_;
      if (c)
        out.columns.push_back(*std::move(c));
      else
        why = c.status();
    }
    if (!why.ok())
      out = failure(why);
    if (!rows.origins.empty()) // that of the last row
      append_origins(out.origins, rows.origins, rows.rows - 1, 1);
    return out;
  }

  held_pieces rows_;
  const size_t size_;
  std::vector<field_format> fields_;
};

} // namespace

opened open_padded_batch(engine& shared, const dataset_ptr& node, const place& at) {
  int64_t extent = shape::unknown;
  if (!node->tensors.empty()) {
    HEADRACE_ASSIGN(const auto given, shared.arguments(node, at));
    extent = given[0].values<int64_t>()[0];
    if (extent < 0)
      return invalid_argument(fmt::format("padded_batch: a padded extent of {}", extent));
  }
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{
    std::make_unique<padded_batch_iterator>(shared, *node, extent, std::move(input))};
}

} // namespace headrace::detail
