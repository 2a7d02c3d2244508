#include "headrace/pipeline/functions/representation/library.hpp"
#include "headrace/pipeline/kernels/philox.hpp"
#include "headrace/pipeline/kernels/tile.hpp"

#include <bit>
#include <cmath>
#include <fmt/format.h>
#include <numbers>

namespace headrace::detail {

namespace {

constexpr int64_t most_drawn_values = int64_t{1} << 30;

status check_seed(const tensor_spec& seed) {
  const auto& dims = seed.dims;
  if (!is_integer(seed.type)
      || (dims.has_rank() && (dims.rank() != 1 || (dims[0] != 2 && dims[0] != shape::unknown))))
    return invalid_argument(
      fmt::format("the seed is {}; a vector of two integers is needed", to_string(seed)));
  return {};
}

result<shape> check_dims(const std::vector<int64_t>& dims) {
  int64_t n = 1;
  for (auto dim : dims)
    if (dim < 0 || __builtin_mul_overflow(n, dim, &n) || n > most_drawn_values)
      return invalid_argument(fmt::format("shape {}: extents must be known, at most {} values",
                                          to_string(shape{dims}), most_drawn_values));
  return shape{dims};
}

/// The shape of the drawn tensor. If there is an operand with the index `like`, the first extent is
/// the first extent of this operand.
result<shape> drawn_dims(const library_operands& in, size_t like) {
  auto wanted = in.attrs.dims;
  bool known = true;
  if (in.size() > like) {
    const auto& of = in[like].dims;
    if (wanted.empty() || (of.has_rank() && of.is_scalar()))
      return invalid_argument(
        fmt::format("{} has no axis that is to be followed", to_string(in[like])));
    wanted[0] = of.has_rank() ? of[0] : shape::unknown;
    known = wanted[0] != shape::unknown;
    if (!known)
      wanted[0] = 0;
  }
  HEADRACE_ASSIGN(auto dims, check_dims(wanted));
  if (known)
    return dims;
  wanted[0] = shape::unknown;
  return shape{std::move(wanted)};
}

result<tensor_spec> infer_floats(const library_operands& in) {
  HEADRACE_TRY(check_seed(in[0]));
  HEADRACE_ASSIGN(auto dims, drawn_dims(in, 1));
  if (in.type != dtype::float32 && in.type != dtype::float64)
    return invalid_argument(
      fmt::format("{} was asked for; float32 and float64 can be drawn", to_string(in.type)));
  return tensor_spec{in.type, std::move(dims)};
}

result<tensor_spec> infer_integers(const library_operands& in) {
  HEADRACE_TRY(check_seed(in[0]));
  HEADRACE_ASSIGN(auto dims, drawn_dims(in, 3));
  for (const auto i : {size_t{1}, size_t{2}})
    if ((in[i].type != dtype::int32 && in[i].type != dtype::int64) || in[i].type != in[1].type
        || (in[i].dims.has_rank() && !in[i].dims.is_scalar()))
      return invalid_argument(fmt::format("bounds are {} and {}; int32 or int64 scalars are needed",
                                          to_string(in[1]), to_string(in[2])));
  return tensor_spec{in[1].type, std::move(dims)};
}

result<tensor_spec> infer_categorical(const library_operands& in) {
  HEADRACE_TRY(check_seed(in[0]));
  if (!is_floating(in[1].type) || size_of(in[1].type) == 2)
    return invalid_argument(
      fmt::format("logits are {}; they must be float32 or float64", to_string(in[1])));
  if (in.attrs.dims.size() != 1 || in.attrs.dims[0] < 0 || in.attrs.dims[0] > most_drawn_values)
    return invalid_argument(
      fmt::format("the number of draws must be in [0, {}]", most_drawn_values));
  const auto& dims = in[1].dims;
  if (dims.is_scalar())
    return invalid_argument("logits have no axis");
  if (!dims.has_rank())
    return tensor_spec{dtype::int64, dims};
  std::vector<int64_t> out{dims.dims().begin(), dims.dims().end()};
  out.back() = in.attrs.dims[0];
  return tensor_spec{dtype::int64, shape{std::move(out)}};
}

kernels::seeded_words words_of(const op_call& call, size_t r) {
  return visit_plain(call.inputs[0].data->type(), [&]<class T>(T) -> kernels::seeded_words {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      const auto seed = row_values<T>(call.inputs[0], r);
      return {static_cast<uint64_t>(static_cast<int64_t>(seed[0])),
              static_cast<uint64_t>(static_cast<int64_t>(seed[1]))};
    } else {
      return {0, 0};
    }
  });
}

/// The number x in [0, 1) for which 1 + x has the low 23 bits of `word` as its mantissa.
float unit_float(uint32_t word) {
  return std::bit_cast<float>((word & 0x7fffffu) | 0x3f800000u) - 1.0f;
}
double unit_double(uint32_t high, uint32_t low) {
  return std::bit_cast<double>(uint64_t{(high & 0xfffffu) | 0x3ff00000u} << 32 | low) - 1.0;
}

template <class T>
void fill_uniform(T* out, const kernels::seeded_words& words, uint64_t first, size_t n) {
  constexpr size_t each = sizeof(T) / sizeof(uint32_t);
  uint32_t chunk[256];
  for (size_t i = 0; i < n;) {
    const auto now = std::min(n - i, std::size(chunk) / each);
    words.fill(chunk, (first + i) * each, now * each);
    for (size_t k = 0; k < now; ++k, ++i)
      if constexpr (std::is_same_v<T, float>)
        out[i] = unit_float(chunk[k]);
      else
        out[i] = unit_double(chunk[2 * k], chunk[2 * k + 1]);
  }
}

column run_uniform(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto words = words_of(call, r);
    const auto n = static_cast<size_t>(*dims.elements());
    auto* to = out.extend(n);
    if (call.node.spec.type == dtype::float32)
      fill_uniform(reinterpret_cast<float*>(to), words, 0, n);
    else
      fill_uniform(reinterpret_cast<double*>(to), words, 0, n);
    out.end_row(dims);
    return {};
  });
}

/// Draws normal numbers by the method of Box and Muller, each pair from two uniform numbers. The
/// logarithm, sine and cosine are headrace's own kernels, which give the same bits on every CPU.
template <class T>
void fill_normal(std::vector<T>& out, const kernels::seeded_words& words, uint64_t first_pair,
                 size_t pairs) {
  constexpr auto type = dtype_of<T>;
  std::vector<T> uniform(2 * pairs), radius(pairs), angle(pairs), part(pairs);
  fill_uniform(uniform.data(), words, 2 * first_pair, 2 * pairs);
  for (size_t i = 0; i < pairs; ++i) {
    radius[i] = std::max(uniform[2 * i], T(1.0e-7f));
    angle[i] = static_cast<T>(2 * std::numbers::pi * static_cast<double>(uniform[2 * i + 1]));
  }
  const auto apply = [&](expr_op op, std::vector<T>& to, const std::vector<T>& from) {
    kernels::find_tile(op, type)(to.data(), from.data(), nullptr, nullptr, pairs);
  };
  apply(expr_op::log, radius, radius);
  for (auto& x : radius) x *= T(-2);
  apply(expr_op::sqrt, radius, radius);
  out.resize(2 * pairs);
  for (const bool cosine : {false, true}) {
    apply(cosine ? expr_op::cos : expr_op::sin, part, angle);
    for (size_t i = 0; i < pairs; ++i) out[2 * i + (cosine ? 1 : 0)] = part[i] * radius[i];
  }
}

template <class T>
void draw_normal(T* to, const kernels::seeded_words& words, size_t n, bool truncated) {
  std::vector<T> drawn;
  if (!truncated) {
    fill_normal(drawn, words, 0, (n + 1) / 2);
    std::copy_n(drawn.data(), n, to);
    return;
  }
  uint64_t pair = 0;
  for (size_t i = 0; i < n;) {
    const auto pairs = (n - i + 1) / 2 + 1;
    fill_normal(drawn, words, pair, pairs);
    pair += pairs;
    for (size_t k = 0; k < drawn.size() && i < n; ++k)
      if (std::abs(drawn[k]) < T(2))
        to[i++] = drawn[k];
  }
}

column run_normal(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto words = words_of(call, r);
    const auto n = static_cast<size_t>(*dims.elements());
    auto* to = out.extend(n);
    if (call.node.spec.type == dtype::float32)
      draw_normal(reinterpret_cast<float*>(to), words, n, call.node.attrs.flag);
    else
      draw_normal(reinterpret_cast<double*>(to), words, n, call.node.attrs.flag);
    out.end_row(dims);
    return {};
  });
}

column run_integers(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto low = integer_at(call.inputs[1], r), high = integer_at(call.inputs[2], r);
    if (low >= high)
      return invalid_argument(fmt::format("no integer is in [{}, {})", low, high));
    const auto range = static_cast<uint64_t>(high) - static_cast<uint64_t>(low);
    const auto words = words_of(call, r);
    const auto n = static_cast<size_t>(*dims.elements());
    const bool wide = call.node.spec.type == dtype::int64;
    std::vector<uint32_t> drawn(n * (wide ? 2 : 1));
    words.fill(drawn.data(), 0, drawn.size());
    auto* to = out.extend(n);
    for (size_t i = 0; i < n; ++i) {
      const auto bits = wide ? drawn[2 * i] | uint64_t{drawn[2 * i + 1]} << 32 : drawn[i];
      const auto x = static_cast<uint64_t>(low) + bits % range;
      if (wide)
        reinterpret_cast<uint64_t*>(to)[i] = x;
      else
        reinterpret_cast<uint32_t*>(to)[i] = static_cast<uint32_t>(x);
    }
    out.end_row(dims);
    return {};
  });
}

/// Draws from one line of logits.
class line_of_logits {
public:
  explicit line_of_logits(std::vector<double> logits) : sums_(std::move(logits)) {
    double most = -INFINITY;
    for (auto x : sums_)
      if (std::isfinite(x))
        most = std::max(most, x);
    for (auto& x : sums_) x = std::isfinite(x) ? x - most : -INFINITY;
    std::vector<double> weights(sums_.size());
    if (!sums_.empty())
      kernels::find_tile(expr_op::exp, dtype::float64)(weights.data(), sums_.data(), nullptr,
                                                       nullptr, sums_.size());
    double sum = 0;
    for (size_t i = 0; i < sums_.size(); ++i) sums_[i] = sum += weights[i];
  }
  bool empty() const { return sums_.empty() || !(sums_.back() > 0); }
  int64_t draw(double u) const {
    const auto at = std::upper_bound(sums_.begin(), sums_.end(), u * sums_.back());
    return std::min<int64_t>(at - sums_.begin(), static_cast<int64_t>(sums_.size()) - 1);
  }

private:
  std::vector<double> sums_;
};

column run_categorical(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto row = call.inputs[1].shape_of(r);
    const auto classes = static_cast<size_t>(row[row.rank() - 1]);
    const auto lines = static_cast<size_t>(*shape{row.dims().first(row.rank() - 1)}.elements());
    const auto draws = static_cast<size_t>(call.node.attrs.dims[0]);
    std::vector<int64_t> drawn;
    std::vector<double> uniform(lines * draws);
    fill_uniform(uniform.data(), words_of(call, r), 0, uniform.size());
    status why;
    visit_plain(call.inputs[1].data->type(), [&]<class T>(T) {
      if constexpr (std::is_floating_point_v<T>) {
        const auto logits = row_values<T>(call.inputs[1], r);
        for (size_t i = 0; i < lines && why.ok(); ++i) {
          const auto first = logits.begin() + static_cast<std::ptrdiff_t>(i * classes);
          const line_of_logits line{{first, first + static_cast<std::ptrdiff_t>(classes)}};
          if (line.empty())
            why = invalid_argument("no logit is finite");
          for (size_t k = 0; k < draws && why.ok(); ++k)
            drawn.push_back(line.draw(uniform[i * draws + k]));
        }
      }
    });
    HEADRACE_TRY(why);
    if (!drawn.empty())
      std::memcpy(out.extend(drawn.size()), drawn.data(), drawn.size() * sizeof(int64_t));
    out.end_row(dims);
    return {};
  });
}

result<tensor_spec> infer_bits(const library_operands& in) {
  HEADRACE_TRY(check_seed(in[0]));
  HEADRACE_ASSIGN(auto dims, check_dims(in.attrs.dims));
  return tensor_spec{dtype::uint64, std::move(dims)};
}

column run_bits(const op_call& call) {
  return run_rows(call, [&](size_t r, const shape& dims, column_builder& out) -> status {
    const auto n = static_cast<size_t>(*dims.elements());
    words_of(call, r).fill(reinterpret_cast<uint32_t*>(out.extend(n)), 0, 2 * n);
    out.end_row(dims);
    return {};
  });
}

/// Seeds are read from a column of the block (row_seeds.hpp); no plan calls `run_row_seed`.
result<tensor_spec> infer_row_seed(const library_operands&) {
  return tensor_spec{dtype::int64, {2}};
}
column run_row_seed(const op_call& call) {
  call.fail_all(internal_error("no seeds were drawn"));
  return column_of_nothing(call.node.spec, call.rows);
}

} // namespace

std::span<const library_function> random_functions() {
  static constexpr library_function functions[] = {
    {expr_op::row_seed, "random.element_seed", 0, 0, infer_row_seed, run_row_seed},
    {expr_op::random_bits, "random.fold_in", 1, 1, infer_bits, run_bits},
    {expr_op::random_uniform, "random.stateless_uniform", 1, 2, infer_floats, run_uniform},
    {expr_op::random_normal, "random.stateless_normal", 1, 2, infer_floats, run_normal},
    {expr_op::random_integers, "random.stateless_uniform", 3, 4, infer_integers, run_integers},
    {expr_op::random_categorical, "random.stateless_categorical", 2, 2, infer_categorical,
     run_categorical},
  };
  return functions;
}

} // namespace headrace::detail
