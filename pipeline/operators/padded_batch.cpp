#include "headrace/pipeline/operators/held_pieces.hpp"
#include "headrace/pipeline/operators/pad_rows.hpp"
#include "headrace/pipeline/operators/simple_iterator.hpp"

namespace headrace::detail {

namespace {

/// A batch with a row that failed is one failed row, as of `batch`.
class padded_batch_iterator final : public operator_iterator {
public:
  padded_batch_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      rows_(std::move(input)),
      size_(static_cast<size_t>(node.count)) {}

protected:
  std::optional<block> produce(const limits&) override {
    rows_.fill(size_, most_bytes);
    if (rows_.held() == 0 || (rows_.held() < size_ && node_.flag))
      return std::nullopt;
    const auto pieces = rows_.pieces();
    std::vector<row_run> runs;
    for (uint32_t i = 0; i < pieces.size(); ++i)
      runs.push_back({i, 0, static_cast<uint32_t>(pieces[i]->rows)});
    auto out = padded(gather_rows(pieces, runs, kernel_calls_));
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
      auto c = pad_rows(rows.columns[i], node_.fields[i], i);
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
};

} // namespace

opened open_padded_batch(engine& shared, const dataset_ptr& node, const place& at) {
  return open_over_input<padded_batch_iterator>(shared, node, at);
}

} // namespace headrace::detail
