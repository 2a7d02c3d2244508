#include "headrace/pipeline/composed/cardinality_dataset.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/operators/groups/nested_rows.hpp"
#include "headrace/pipeline/operators/mixes/held_pieces.hpp"
#include "headrace/pipeline/operators/rows/simple_iterator.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

/// A window with an error row is one error row, as for `batch`.
class window_iterator final : public operator_iterator {
public:
  window_iterator(engine& shared, const dataset_node& node, std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      rows_(std::move(input)),
      size_(static_cast<size_t>(node.as<window_parameters>().size)),
      shift_(static_cast<size_t>(node.as<window_parameters>().shift)),
      stride_(static_cast<size_t>(node.as<window_parameters>().stride)),
      span_((size_ - 1) * stride_ + 1) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (!skip())
      return std::nullopt;
    const auto windows = std::min(wanted.rows, std::max<size_t>(1, 4096 / span_));
    const auto rows = span_ + (windows - 1) * std::min(shift_, span_);
    rows_.fill(rows, rows, wanted.bytes);
    const auto held = rows_.held();
    if (held >= span_)
      return windows_of(std::min(windows, (held - span_) / shift_ + 1), size_);
    if (held == 0 || node_.as<window_parameters>().drop_remainder)
      return std::nullopt;
    return windows_of(1, (held - 1) / stride_ + 1);
  }
  // Saves the number of rows to skip, then the point of the input at the first held row.
  void save_to(position& to) const override {
    to.numbers = {skip_};
    put(to, rows_.point());
  }
  status restore_from(position_reader& from) override {
    skip_ = static_cast<size_t>(from.number(shift_));
    return rows_.restore(from);
  }

private:
  // Returns the next `windows` windows, of `size` rows each, and advances to the window after them.
  block windows_of(size_t windows, size_t size) {
    std::vector<row_run> runs;
    std::vector<row_range> ranges;
    if (stride_ == 1 && shift_ <= size_) { // overlapping windows share their rows
      for (size_t i = 0; i < (windows - 1) * shift_ + size; ++i) rows_.append(runs, i);
      for (size_t w = 0; w < windows; ++w) ranges.push_back({w * shift_, size});
    } else {
      for (size_t w = 0; w < windows; ++w) {
        for (size_t i = 0; i < size; ++i) rows_.append(runs, w * shift_ + i * stride_);
        ranges.push_back({w * size, size});
      }
    }
    auto out = nest_rows(gather_rows(rows_.pieces(), runs, kernel_calls_), ranges);
    advance(windows);
    return out;
  }

  void advance(size_t windows) {
    const auto dropped = std::min(windows * shift_, rows_.held());
    rows_.drop(dropped);
    skip_ = windows * shift_ - dropped;
  }

  // Skips the rows between two windows. False: the input has ended.
  bool skip() {
    constexpr size_t most = 4096;
    while (skip_ != 0) {
      const auto rows = std::min(skip_, most);
      rows_.fill(rows, rows, limits{}.bytes);
      const auto dropped = std::min(skip_, rows_.held());
      if (dropped == 0)
        return false;
      rows_.drop(dropped);
      skip_ -= dropped;
    }
    return true;
  }

  held_pieces rows_;
  const size_t size_, shift_, stride_;
  const size_t span_; ///< the number of rows from the first row of a window to its last one
  size_t skip_ = 0;   ///< the number of rows before the next window that are not read yet
};

void encode_window(const dataset_node& node, node_writer& to) {
  const auto& own = node.as<window_parameters>();
  auto out = to.over_input(to.out.initWindow());
  out.setSize(own.size);
  out.setShift(own.shift);
  out.setStride(own.stride);
  out.setDropRemainder(own.drop_remainder);
}

result<dataset_ptr> decode_window(node_reader& from) {
  const auto in = from.in.getWindow();
  HEADRACE_ASSIGN(auto rows, from.input(in.getInput()));
  return make_window(std::move(rows), in.getSize(), in.getShift(), in.getStride(),
                     in.getDropRemainder());
}

dataset_ptr cardinality_of_windows(const dataset_ptr& x) {
  const auto& own = x->as<window_parameters>();
  const auto span = (own.size - 1) * own.stride + 1;
  return cardinality_by_finite(x, [&](const expr& n) {
    const auto first = n - (own.drop_remainder ? span : 1);
    return where(first < 0, constant(int64_t{0}), first / constant(own.shift) + 1);
  });
}

} // namespace

constinit const operator_record window_record{
  .name = "window",
  .arm = schema::Dataset::WINDOW,
  .encode = encode_window,
  .decode = decode_window,
  .open = open_over_input<window_iterator>,
  .cardinality = cardinality_of_windows,
};

} // namespace headrace::detail
