#include "headrace/pipeline/functions/operations/alignment.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"

#include <fmt/format.h>

namespace headrace::detail {

column alignment::make(dtype type, size_t rows, buffer values) const {
  if (dense)
    return column::dense(type, dims, rows, std::move(values));
  return column::variable(type, rank, rows, std::move(values), row_starts, row_dims);
}

namespace {

/// Appends, for each value of a row of shape `to`, `base` plus the index of the value that
/// broadcasts to it from a row of shape `from`.
void append_index(const shape& from, const shape& to, int64_t base, std::vector<int64_t>& out) {
  const auto rank = to.rank();
  std::vector<int64_t> steps(rank, 0), at(rank, 0);
  int64_t step = 1;
  for (size_t i = 0; i < from.rank(); ++i) {
    const auto extent = from[from.rank() - 1 - i];
    steps[rank - 1 - i] = extent == 1 ? 0 : step;
    step *= extent;
  }
  int64_t place = base;
  for (auto left = *to.elements(); left > 0; --left) {
    out.push_back(place);
    for (auto axis = rank; axis-- > 0;) {
      place += steps[axis];
      if (++at[axis] < to[axis])
        break;
      place -= steps[axis] * to[axis];
      at[axis] = 0;
    }
  }
}

/// True if a row of shape `to` repeats the values of a row of shape `from` in their order.
bool repeats_whole(const shape& from, const shape& to) {
  size_t first = 0;
  while (first < from.rank() && from[first] == 1) ++first;
  for (size_t i = 1; i <= from.rank() - first; ++i)
    if (from[from.rank() - i] != to[to.rank() - i])
      return false;
  return true;
}

result<shape> broadcast_rows(const op_call& call, size_t row) {
  auto out = call.inputs[0].shape_of(row);
  for (const auto& in : call.inputs.subspan(1)) {
    const auto next = in.shape_of(row);
    auto both = broadcast(out, next);
    if (!both)
      return invalid_argument(
        fmt::format("shapes {} and {} do not broadcast; extents must be equal or 1", to_string(out),
                    to_string(next)));
    out = *std::move(both);
  }
  HEADRACE_TRY(check_bounded(out));
  return out;
}

shape shape_of_failed(const op_call& call) {
  size_t rank = 0;
  for (const auto& in : call.inputs) rank = std::max(rank, in.data->rank());
  return shape_of_nothing(call.node.spec, rank);
}

alignment all_failed(const op_call& call) {
  alignment out;
  out.dims = shape_of_failed(call);
  out.row_values = *out.dims.elements();
  out.total = out.row_values * static_cast<int64_t>(call.rows);
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    // All rows failed, so no value of the input is read: all indices are -1.
    out.operands.push_back({aligned_operand::mode::mapped, 0, 0,
                            std::vector<int64_t>(static_cast<size_t>(out.total), -1)});
  }
  return out;
}

alignment align_dense(const op_call& call) {
  auto dims = broadcast_rows(call, 0);
  if (!dims) {
    call.fail_all(dims.status());
    return all_failed(call);
  }
  alignment out;
  out.dims = *std::move(dims);
  out.rank = out.dims.rank();
  out.row_values = *out.dims.elements();
  out.total = out.row_values * static_cast<int64_t>(call.rows);
  for (const auto& in : call.inputs) {
    aligned_operand how;
    const auto values = in.data->row_elements();
    const bool uniform = in.uniform || call.rows == 1;
    if (values == 1 && uniform)
      how.how = aligned_operand::mode::single;
    else if (values == out.row_values && !in.uniform)
      how.how = aligned_operand::mode::flat;
    else if (values == 1)
      how.how = aligned_operand::mode::per_row;
    else if (how.row_stride = in.uniform ? 0 : values;
             values != 0 && repeats_whole(in.data->row_shape(), out.dims)) {
      how.how = aligned_operand::mode::cycled;
      how.period = values;
    } else {
      how.how = aligned_operand::mode::pattern;
      append_index(in.data->row_shape(), out.dims, 0, how.index);
    }
    out.operands.push_back(std::move(how));
  }
  return out;
}

bool same_rows(const column& a, const column& b) {
  const auto n = a.rows();
  if (a.rank() != b.rank())
    return false;
  const auto &x = a.row_dim_buffer(), &y = b.row_dim_buffer();
  return x.data() == y.data() || std::memcmp(x.data(), y.data(), n * a.rank() * 8) == 0;
}

/// The alignment if the inputs of variable shape have equal shapes in each row, and the dense
/// inputs are scalars, so that no indices are needed; else nullopt.
std::optional<alignment> align_alike(const op_call& call) {
  const column* first = nullptr;
  for (const auto& in : call.inputs) {
    if (in.data->is_dense()) {
      if (!in.data->row_shape().is_scalar())
        return std::nullopt;
    } else if (in.uniform && call.rows != 1) {
      return std::nullopt; // the only row of this input stands for all rows
    } else if (first == nullptr) {
      first = in.data;
    } else if (!same_rows(*first, *in.data)) {
      return std::nullopt;
    }
  }
  alignment out;
  out.dense = false;
  out.rank = first->rank();
  out.row_starts = first->row_start_buffer();
  out.row_dims = first->row_dim_buffer();
  out.total = first->total_values();
  for (const auto& in : call.inputs) {
    aligned_operand how;
    if (in.data->is_dense())
      how.how = in.uniform ? aligned_operand::mode::single : aligned_operand::mode::per_row;
    out.operands.push_back(std::move(how));
  }
  return out;
}

} // namespace

alignment align(const op_call& call) {
  if (call.all_dense())
    return align_dense(call);
  if (auto out = align_alike(call))
    return *std::move(out);
  alignment out;
  out.dense = false;
  out.operands.resize(call.inputs.size());
  for (auto& how : out.operands) how.how = aligned_operand::mode::mapped;
  buffer_builder starts, dims;
  starts.push_back(int64_t{0});
  std::optional<size_t> rank;
  const auto nothing = shape_of_failed(call);
  for (size_t r = 0; r < call.rows; ++r) {
    auto row = call.skips(r) ? result<shape>{nothing} : broadcast_rows(call, r);
    const bool failed = !row || call.skips(r);
    if (!row)
      call.fail(r, row.status());
    const auto& to = row ? *row : nothing;
    const auto values = *to.elements();
    for (size_t i = 0; i < call.inputs.size(); ++i) {
      auto& index = out.operands[i].index;
      if (failed)
        index.insert(index.end(), static_cast<size_t>(values), -1);
      else
        append_index(call.inputs[i].shape_of(r), to, call.inputs[i].first_value(r), index);
    }
    out.total += values;
    starts.push_back(out.total);
    for (auto dim : to.dims()) dims.push_back(dim);
    rank = rank.value_or(to.rank());
  }
  out.rank = rank.value_or(0);
  out.row_starts = starts.finish();
  out.row_dims = dims.finish();
  return out;
}

int64_t operand_reader::row_of(int64_t i) {
  if (all_.dense)
    return i / all_.row_values;
  while (row_ > 0 && all_.first_value(row_) > i) --row_;
  while (all_.first_value(row_ + 1) <= i) ++row_;
  return static_cast<int64_t>(row_);
}

int64_t operand_reader::period() const noexcept {
  if (how_.how == aligned_operand::mode::single)
    return 1;
  return how_.how == aligned_operand::mode::cycled && how_.row_stride == 0 ? how_.period : 0;
}

namespace {

/// Fills the `n` places at `out` with repetitions of the `period` values at `values`, beginning
/// with `values[at]`.
template <class T>
void repeat_values(T* out, size_t n, const T* values, size_t period, size_t at) {
  auto done = std::min(n, period - at);
  std::memcpy(out, values + at, done * sizeof(T));
  if (done == n)
    return;
  const auto whole = std::min(n - done, period);
  std::memcpy(out + done, values, whole * sizeof(T));
  auto* const from = out + done;
  // The filled part is copied behind itself until all is filled, because copying single periods of
  // few values would be slow.
  for (done += whole; done < n;) {
    const auto ready = static_cast<size_t>(out + done - from);
    const auto more = std::min(n - done, ready);
    std::memcpy(out + done, from, more * sizeof(T));
    done += more;
  }
}

} // namespace

template <class T>
void operand_reader::load_as(T* out, int64_t first, size_t n) {
  const auto* values = reinterpret_cast<const T*>(data_.value_buffer().data());
  const auto end = first + static_cast<int64_t>(n);
  switch (how_.how) {
  case aligned_operand::mode::flat: std::memcpy(out, values + first, n * sizeof(T)); return;
  case aligned_operand::mode::single: fill_(out, values, n); return;
  case aligned_operand::mode::per_row:
    for (auto i = first; i < end;) {
      const auto row = row_of(i);
      const auto stop = std::min(end, all_.first_value(static_cast<size_t>(row) + 1));
      fill_(out + (i - first), values + row, static_cast<size_t>(stop - i));
      i = stop;
    }
    return;
  case aligned_operand::mode::cycled: {
    const auto period = static_cast<size_t>(how_.period);
    if (how_.row_stride == 0)
      return repeat_values(out, n, values, period, static_cast<size_t>(first) % period);
    for (auto i = first; i < end;) {
      const auto row = i / all_.row_values;
      const auto stop = std::min(end, (row + 1) * all_.row_values);
      repeat_values(out + (i - first), static_cast<size_t>(stop - i),
                    values + row * how_.row_stride, period,
                    static_cast<size_t>(i - row * all_.row_values) % period);
      i = stop;
    }
    return;
  }
  case aligned_operand::mode::pattern:
    for (auto i = first; i < end;) {
      const auto row = i / all_.row_values;
      const auto stop = std::min(end, (row + 1) * all_.row_values);
      const auto* from = values + row * how_.row_stride;
      const auto* index = how_.index.data() + (i - row * all_.row_values);
      for (; i < stop; ++i) out[i - first] = from[*index++];
    }
    return;
  case aligned_operand::mode::mapped:
    for (auto i = first; i < end; ++i) {
      const auto at = how_.index[static_cast<size_t>(i)];
      out[i - first] = at < 0 ? T{} : values[at];
    }
    return;
  }
}

namespace {
struct sixteen_bytes {
  uint64_t low, high;
};
} // namespace

void operand_reader::load(std::byte* out, int64_t first, size_t n) {
  switch (size_of(data_.type())) {
  case 1: return load_as(reinterpret_cast<uint8_t*>(out), first, n);
  case 2: return load_as(reinterpret_cast<uint16_t*>(out), first, n);
  case 4: return load_as(reinterpret_cast<uint32_t*>(out), first, n);
  case 8: return load_as(reinterpret_cast<uint64_t*>(out), first, n);
  default: return load_as(reinterpret_cast<sixteen_bytes*>(out), first, n);
  }
}

} // namespace headrace::detail
