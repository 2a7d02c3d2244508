#include "headrace/pipeline/operators/open.hpp"
#include "headrace/pipeline/sources/source_rows.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

namespace headrace::detail {

namespace {

/// The rows of columns in memory. A split is one row.
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

} // namespace

opened open_slices(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  HEADRACE_ASSIGN(auto rows, rows_of_tensors(*node, std::move(values)));
  return std::unique_ptr<iterator>{
    std::make_unique<slices_iterator>(shared, *node, at, std::move(rows))};
}

} // namespace headrace::detail
