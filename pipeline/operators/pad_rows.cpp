#include "headrace/pipeline/operators/pad_rows.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace headrace::detail {

namespace {

result<shape> padded_shape(const column& rows, const field_format& to, size_t component) {
  std::vector<int64_t> out(to.spec.dims.dims().begin(), to.spec.dims.dims().end());
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto dims = rows.shape_of(row);
    if (dims.rank() != out.size())
      return invalid_argument(
        fmt::format("padded_batch: component {} has a row of shape {}; it must be of rank {}",
                    component, to_string(dims), out.size()));
    for (size_t axis = 0; axis < out.size(); ++axis) {
      if (to.spec.dims[axis] == shape::unknown)
        out[axis] = std::max(out[axis], dims[axis]);
      else if (dims[axis] > out[axis])
        return invalid_argument(fmt::format(
          "padded_batch: component {} has a row of shape {}, which is larger than the padded shape "
          "{}",
          component, to_string(dims), to_string(to.spec.dims)));
    }
  }
  return shape{std::move(out)};
}

/// Calls `run(from, to, count)` for each run of neighbouring values of a tensor of shape `dims`
/// within one of shape `whole`.
class placing {
public:
  using place = std::function<void(int64_t, int64_t, int64_t)>;
  placing(std::span<const int64_t> dims, std::span<const int64_t> whole, const place& run)
    : dims_(dims), whole_(whole), run_(run) {}

  void start(int64_t from, int64_t to) {
    from_ = from;
    axis(0, to, 1);
  }

private:
  static int64_t product(std::span<const int64_t> xs) {
    int64_t out = 1;
    for (auto x : xs) out *= x;
    return out;
  }
  void axis(size_t at, int64_t to, int64_t count) {
    // What follows is whole: one run.
    if (at == dims_.size() || std::ranges::equal(dims_.subspan(at + 1), whole_.subspan(at + 1))) {
      if (at < dims_.size())
        count = product(dims_.subspan(at));
      if (count != 0)
        run_(from_, to, count);
      from_ += count;
      return;
    }
    const auto stride = product(whole_.subspan(at + 1));
    for (int64_t i = 0; i < dims_[at]; ++i) axis(at + 1, to + i * stride, 1);
  }

  std::span<const int64_t> dims_, whole_;
  const place& run_;
  int64_t from_ = 0;
};

void place_rows(const column& rows, const shape& whole, const placing::place& run) {
  const auto size = *whole.elements();
  for (size_t row = 0; row < rows.rows(); ++row) {
    const auto dims = rows.shape_of(row);
    if (dims.elements() != 0)
      placing{dims.dims(), whole.dims(), run}.start(rows.first_value(row),
                                                    static_cast<int64_t>(row) * size);
  }
}

column pad_strings(const column& rows, const shape& whole, const shape& batch,
                   const column& missing) {
  std::vector<int64_t> from(static_cast<size_t>(*batch.elements()), -1);
  place_rows(rows, whole, [&](int64_t first, int64_t to, int64_t count) {
    for (int64_t i = 0; i < count; ++i) from[static_cast<size_t>(to + i)] = first + i;
  });
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  for (auto i : from) {
    const auto text = i < 0 ? missing.string(0) : rows.string(static_cast<size_t>(i));
    bytes.append(text.data(), text.size());
    borders.push_back(static_cast<int64_t>(bytes.size()));
  }
  return column::strings(batch, 1, borders.finish(), bytes.finish());
}

} // namespace

result<column> pad_rows(const column& rows, const field_format& to, size_t component) {
  HEADRACE_ASSIGN(const auto whole, padded_shape(rows, to, component));
  const auto batch = whole.with_leading(static_cast<int64_t>(rows.rows()));
  if (rows.is_string())
    return pad_strings(rows, whole, batch, *to.missing);
  const auto width = size_of(rows.type());
  mutable_buffer out{static_cast<size_t>(*batch.elements()) * width};
  for (size_t i = 0; i < out.size(); i += width)
    std::memcpy(out.data() + i, to.missing->value_buffer().data(), width);
  place_rows(rows, whole, [&](int64_t first, int64_t at, int64_t count) {
    std::memcpy(out.data() + static_cast<size_t>(at) * width,
                rows.value_buffer().data() + static_cast<size_t>(first) * width,
                static_cast<size_t>(count) * width);
  });
  return column::dense(rows.type(), batch, 1, std::move(out).freeze());
}

} // namespace headrace::detail
