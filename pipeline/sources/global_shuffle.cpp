#include "headrace/pipeline/iterator/gather.hpp"
#include "headrace/pipeline/iterator/random.hpp"
#include "headrace/pipeline/operators/open.hpp"
#include "headrace/pipeline/sources/permutation.hpp"
#include "headrace/pipeline/sources/random_access.hpp"
#include "headrace/pipeline/sources/source_rows.hpp"
#include "headrace/pipeline/sources/split_cursor.hpp"

#include <numeric>

namespace headrace::detail {

namespace {

class numbers final : public random_access {
public:
  numbers(int64_t start, int64_t step, uint64_t rows)
    : start_(static_cast<uint64_t>(start)), step_(static_cast<uint64_t>(step)), rows_(rows) {}
  uint64_t rows() const noexcept override { return rows_; }
  block read(std::span<const uint64_t> which, size_t, uint64_t& kernel_calls) override {
    mutable_buffer values{which.size() * sizeof(uint64_t)};
    auto to = values.as<uint64_t>();
    for (size_t i = 0; i < which.size(); ++i) to[i] = start_ + which[i] * step_;
    ++kernel_calls;
    block out;
    out.rows = which.size();
    out.columns.push_back(column::dense(dtype::int64, {}, out.rows, std::move(values).freeze()));
    return out;
  }

private:
  uint64_t start_, step_; ///< unsigned: sums wrap
  uint64_t rows_;
};

class held_block final : public random_access {
public:
  explicit held_block(block rows)
    : rows_(std::move(rows)),
      row_bytes_(rows_.rows == 0 ? 1 : std::max<size_t>(1, rows_.bytes() / rows_.rows)) {}
  uint64_t rows() const noexcept override { return rows_.rows; }
  block read(std::span<const uint64_t> which, size_t bytes, uint64_t& kernel_calls) override {
    const auto most = std::max<size_t>(1, bytes / row_bytes_);
    std::vector<row_run> runs;
    for (auto row : which.first(std::min(which.size(), most)))
      append_run(runs, {0, static_cast<uint32_t>(row), 1});
    const block* piece = &rows_;
    return gather_rows({&piece, 1}, runs, kernel_calls);
  }

private:
  block rows_;
  size_t row_bytes_;
};

/// A split is a place in the order.
class global_shuffle_iterator final : public operator_iterator {
public:
  global_shuffle_iterator(engine& shared, const dataset_node& node, place at,
                          std::unique_ptr<random_access> rows)
    : operator_iterator(shared, node),
      at_(std::move(at)),
      rows_(std::move(rows)),
      splits_(shared, at_, rows_->rows(), shared.shares_splits(at_) ? rows_->listing() : nullptr) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    auto more = splits_.here();
    if (!more)
      return last_failure(more.status());
    if (!*more)
      return std::nullopt;
    // The pass is known when its first splits are.
    if (!order_)
      order_.emplace(rows_->rows(), key());
    constexpr size_t most = 1 << 15;
    const auto now = **more;
    numbers_.resize(std::min<uint64_t>({wanted.rows, now.count, most}));
    for (size_t i = 0; i < numbers_.size(); ++i) numbers_[i] = order_->at(now.first + i);
    auto out = rows_->read(numbers_, wanted.bytes, kernel_calls_);
    if (splits_.provided())
      out.origins = {splits_.from(now.first, out.rows, out.rows == 1 ? 0 : 1)};
    splits_.pass(out.rows);
    return out;
  }
  // Saves the numbers of the splits. The order follows from the seed.
  void save_to(position& to) const override {
    splits_.save_to(to);
    to.numbers.push_back(rows_->rows());
  }
  status restore_from(position_reader& from) override {
    splits_.restore_from(from);
    if (from.number() != rows_->rows() && from.fits())
      return failed_precondition("there are other rows than when the position was saved");
    return {};
  }

private:
  uint64_t key() const {
    const auto once = engine_.random_key(node_, at_);
    return node_.flag ? mix(mix(once, engine_.context().repetition), splits_.pass_key()) : once;
  }

  place at_;
  std::unique_ptr<random_access> rows_;
  std::optional<permutation> order_;
  split_cursor splits_;
  std::vector<uint64_t> numbers_;
};

} // namespace

result<std::unique_ptr<random_access>> open_random_access(engine& shared, const dataset_ptr& node,
                                                          const place& at) {
  HEADRACE_ASSIGN(auto values, shared.arguments(node, at));
  switch (node->op) {
  case dataset_op::range: {
    const auto number = [&](size_t i) { return values[i].values<int64_t>()[0]; };
    if (number(2) == 0)
      return invalid_argument("range: step is 0; it must be another number");
    return std::unique_ptr<random_access>{
      std::make_unique<numbers>(number(0), number(2), numbers_in(number(0), number(1), number(2)))};
  }
  case dataset_op::from_tensors:
  case dataset_op::from_tensor_slices: {
    HEADRACE_ASSIGN(auto rows, rows_of_tensors(*node, std::move(values)));
    return std::unique_ptr<random_access>{std::make_unique<held_block>(std::move(rows))};
  }
  default: return open_indexed_records(*node, values[0]);
  }
}

opened open_global_shuffle(engine& shared, const dataset_ptr& node, const place& at) {
  auto rows = open_random_access(shared, node->inputs[0], at);
  if (!rows)
    return rows.status().with_context("global_shuffle");
  return std::unique_ptr<iterator>{
    std::make_unique<global_shuffle_iterator>(shared, *node, at, *std::move(rows))};
}

} // namespace headrace::detail
