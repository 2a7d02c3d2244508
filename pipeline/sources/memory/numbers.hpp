#pragma once

#include "headrace/pipeline/engine/open.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

namespace headrace::detail {

/// A source of int64 numbers: row number i has the value `f(i)`. A split is one row.
template <class F>
class numbers_iterator final : public operator_iterator {
public:
  numbers_iterator(engine& shared, const dataset_node& node, const place& at, uint64_t count, F f)
    : operator_iterator(shared, node), f_(std::move(f)), splits_(shared, at, count) {}

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
    mutable_buffer values{rows * sizeof(int64_t)};
    auto* to = values.as<int64_t>().data();
    for (size_t i = 0; i < rows; ++i) to[i] = f_(now.first + i);
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
  F f_;
  split_cursor splits_;
};

/// Opens a source of `count` numbers; `endless_rows`: the numbers do not end.
template <class F>
opened open_numbers(engine& shared, const dataset_node& node, const place& at, uint64_t count,
                    F f) {
  return std::unique_ptr<iterator>{
    std::make_unique<numbers_iterator<F>>(shared, node, at, count, std::move(f))};
}

} // namespace headrace::detail
