#include "headrace/pipeline/operators/batches/pad_rows.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <functional>
#include <new>

namespace headrace::detail {

namespace {

// The shape to which rows `[first, last)` are padded.
result<shape> padded_shape(const column& rows, size_t first, size_t last, const field_format& to,
                           size_t component) {
  std::vector<int64_t> out(to.spec.dims.dims().begin(), to.spec.dims.dims().end());
  if (rows.is_dense())
    last = first + 1; // all rows have the same shape, so the first one suffices
  for (auto row = first; row < last; ++row) {
    const auto dims = rows.shape_of(row);
    if (dims.rank() != out.size())
      return invalid_argument(
        fmt::format("padded_batch: component {} has a row of shape {}; it must be of rank {}",
                    component, to_string(dims), out.size()));
    for (size_t axis = 0; axis < out.size(); ++axis) {
      if (to.spec.dims[axis] == shape::unknown)
        out[axis] = std::max(out[axis], dims[axis]);
      else if (dims[axis] > out[axis])
        return data_loss(fmt::format(
          "padded_batch: component {} has a row of shape {}, which is larger than the padded shape "
          "{}",
          component, to_string(dims), to_string(to.spec.dims)));
    }
  }
  return shape{std::move(out)};
}

/// Places a tensor of shape `dims` at the beginning of each axis of a tensor of shape `whole`.
/// Calls `run(from, to, count)` for each range of `count` values that are contiguous in both
/// tensors; `from` and `to` are the indices of the first value in the source and in the result.
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
    // If both tensors have the same extents of all inner axes, the values of this axis are
    // contiguous.
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

/// The shapes of the batches, and the places of their values in one buffer.
struct batch_layout {
  size_t size;                    ///< the number of rows of each batch
  std::vector<shape> wholes{};    ///< for each batch: the shape to which its rows are padded
  std::vector<int64_t> starts{0}; ///< for each batch: the index of its first value; then the end
  bool alike = true;              ///< all batches have the same shape

  size_t count() const { return wholes.size(); }
  shape batch(size_t i) const { return wholes[i].with_leading(static_cast<int64_t>(size)); }
  size_t values() const { return static_cast<size_t>(starts.back()); }
};

// Failed batches get the shape of the first batch that did not fail.
batch_layout lay_out(const column& rows, size_t size, const field_format& to, size_t component,
                     failed_batches& failed) {
  batch_layout out{.size = size};
  std::optional<shape> good;
  const auto batches = rows.rows() / size;
  for (size_t b = 0; b < batches; ++b) {
    if (!failed.at(b)) {
      auto whole = padded_shape(rows, b * size, (b + 1) * size, to, component);
      if (whole)
        if (const auto how = check_bounded(whole->with_leading(static_cast<int64_t>(size)));
            !how.ok())
          whole = how.with_context(fmt::format("padded_batch: component {}", component));
      if (whole) {
        out.alike = out.alike && (!good || *good == *whole);
        if (!good)
          good = *whole;
        out.wholes.push_back(*std::move(whole));
        continue;
      }
      failed.add(b, whole.status());
    }
    out.wholes.emplace_back();
  }
  if (!good) {
    std::vector<int64_t> dims(to.spec.dims.dims().begin(), to.spec.dims.dims().end());
    std::replace(dims.begin(), dims.end(), shape::unknown, int64_t{0});
    good = shape{std::move(dims)};
  }
  for (size_t b = 0; b < batches; ++b) {
    if (failed.at(b))
      out.wholes[b] = *good;
    int64_t values = 0;
    if (__builtin_mul_overflow(*out.wholes[b].elements(), static_cast<int64_t>(size), &values)
        || values > shape::most_values
        || __builtin_add_overflow(out.starts.back(), values, &values))
      throw std::bad_alloc{};
    out.starts.push_back(values);
  }
  return out;
}

void place_rows(const column& rows, const batch_layout& to, const failed_batches& failed,
                const placing::place& run) {
  for (size_t b = 0; b < to.count(); ++b) {
    if (failed.at(b))
      continue;
    const auto& whole = to.wholes[b];
    const auto each = *whole.elements();
    for (size_t i = 0; i < to.size; ++i) {
      const auto row = b * to.size + i;
      const auto dims = rows.shape_of(row);
      if (dims.elements() != 0)
        placing{dims.dims(), whole.dims(), run}.start(
          rows.first_value(row), to.starts[b] + static_cast<int64_t>(i) * each);
    }
  }
}

/// The buffers of a column that contains all batches.
struct column_parts {
  buffer values;
  buffer borders{}; ///< the borders of strings
};
column make_column(dtype type, const batch_layout& of, column_parts parts) {
  const bool text = type == dtype::string;
  if (of.alike) {
    if (text)
      return column::strings(of.batch(0), of.count(), std::move(parts.borders),
                             std::move(parts.values));
    return column::dense(type, of.batch(0), of.count(), std::move(parts.values));
  }
  const auto rank = of.wholes[0].rank() + 1;
  buffer_builder dims;
  for (size_t b = 0; b < of.count(); ++b) {
    const auto whole = of.batch(b);
    for (auto extent : whole.dims()) dims.push_back(extent);
  }
  auto starts = buffer::copy_of(std::span<const int64_t>{of.starts});
  if (text)
    return column::variable_strings(rank, of.count(), std::move(parts.borders),
                                    std::move(parts.values), 0, std::move(starts), dims.finish());
  return column::variable(type, rank, of.count(), std::move(parts.values), std::move(starts),
                          dims.finish());
}

column_parts pad_strings(const column& rows, const batch_layout& to, const failed_batches& failed,
                         const column& missing) {
  std::vector<int64_t> from(to.values(), -1);
  place_rows(rows, to, failed, [&](int64_t first, int64_t at, int64_t count) {
    for (int64_t i = 0; i < count; ++i) from[static_cast<size_t>(at + i)] = first + i;
  });
  buffer_builder borders, bytes;
  borders.push_back(int64_t{0});
  for (auto i : from) {
    const auto text = i < 0 ? missing.string(0) : rows.string(static_cast<size_t>(i));
    bytes.append(text.data(), text.size());
    borders.push_back(static_cast<int64_t>(bytes.size()));
  }
  return {bytes.finish(), borders.finish()};
}

column_parts pad_numbers(const column& rows, const batch_layout& to, const failed_batches& failed,
                         const column& missing) {
  const auto width = size_of(rows.type());
  mutable_buffer out{to.values() * width};
  for (size_t i = 0; i < out.size(); i += width)
    std::memcpy(out.data() + i, missing.value_buffer().data(), width);
  place_rows(rows, to, failed, [&](int64_t first, int64_t at, int64_t count) {
    std::memcpy(out.data() + static_cast<size_t>(at) * width,
                rows.value_buffer().data() + static_cast<size_t>(first) * width,
                static_cast<size_t>(count) * width);
  });
  return {std::move(out).freeze()};
}

} // namespace

column pad_rows(const column& rows, size_t size, const field_format& to, size_t component,
                failed_batches& failed, uint64_t& kernel_calls) {
  const auto layout = lay_out(rows, size, to, component, failed);
  if (rows.is_dense() && layout.alike && layout.wholes[0] == rows.row_shape())
    return batch_column(rows, component, size, failed);
  ++kernel_calls;
  const auto pad = rows.is_string() ? pad_strings : pad_numbers;
  return make_column(rows.type(), layout, pad(rows, layout, failed, *to.missing));
}

} // namespace headrace::detail
