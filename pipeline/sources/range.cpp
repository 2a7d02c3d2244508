#include "headrace/pipeline/operators/open.hpp"
#include "headrace/pipeline/sources/source_rows.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

namespace headrace::detail {

namespace {

/// A split is one number.
class range_iterator final : public operator_iterator {
public:
  range_iterator(engine& shared, const dataset_node& node, const place& at, int64_t start,
                 int64_t step, uint64_t count)
    : operator_iterator(shared, node),
      start_(static_cast<uint64_t>(start)),
      step_(static_cast<uint64_t>(step)),
      splits_(shared, at, count) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto more = splits_.here();
    if (!more)
      return last_failure(more.status());
    if (!*more)
      return std::nullopt;
    const auto now = **more;
    const auto most = std::max<size_t>(1, wanted.bytes / sizeof(int64_t));
    const auto rows =
      static_cast<size_t>(std::min<uint64_t>({wanted.rows, most, now.count, UINT32_MAX}));
    mutable_buffer values{rows * sizeof(uint64_t)};
    auto* to = values.as<uint64_t>().data();
    const auto first = start_ + now.first * step_;
    for (size_t i = 0; i < rows; ++i) to[i] = first + i * step_;
    ++kernel_calls_;
    block out;
    out.rows = rows;
    out.columns.push_back(column::dense(dtype::int64, {}, rows, std::move(values).freeze()));
    if (splits_.provided())
      out.origins.push_back(splits_.from(now.first, rows, rows == 1 ? 0 : 1));
    splits_.pass(rows);
    return out;
  }
  void save_to(position& to) const override { splits_.save_to(to); }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    return {};
  }

private:
  uint64_t start_, step_; ///< unsigned: sums wrap
  split_cursor splits_;
};

} // namespace

opened open_range(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  const auto number = [&](size_t i) { return values[i].values<int64_t>()[0]; };
  if (number(2) == 0)
    return invalid_argument("range: step is 0; it must be another number");
  return std::unique_ptr<iterator>{std::make_unique<range_iterator>(
    shared, *node, at, number(0), number(2), numbers_in(number(0), number(1), number(2)))};
}

} // namespace headrace::detail
