#include "headrace/pipeline/kernels/tile.hpp"

namespace headrace::detail::kernels {

namespace {

// The loops of complex numbers, for which there are few functions. They are compiled once, not for
// each target; their results have the same bits on every CPU.
template <class C, class F>
void complex_loop(void* out, const void* a, const void* b, const void*, size_t n) {
  auto* o = static_cast<decltype(F{}(C{}, C{}))*>(out);
  auto* x = static_cast<const C*>(a);
  auto* y = static_cast<const C*>(b);
  for (size_t i = 0; i < n; ++i) o[i] = F{}(x[i], y[i]);
}
template <class C, class F>
void complex_unary_loop(void* out, const void* a, const void*, const void*, size_t n) {
  auto* o = static_cast<C*>(out);
  auto* x = static_cast<const C*>(a);
  for (size_t i = 0; i < n; ++i) o[i] = F{}(x[i]);
}

struct complex_add {
  template <class C>
  C operator()(C a, C b) const {
    return {a.real() + b.real(), a.imag() + b.imag()};
  }
};
struct complex_subtract {
  template <class C>
  C operator()(C a, C b) const {
    return {a.real() - b.real(), a.imag() - b.imag()};
  }
};
struct complex_multiply {
  template <class C>
  C operator()(C a, C b) const {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};
struct complex_equal {
  template <class C>
  uint8_t operator()(C a, C b) const {
    return a.real() == b.real() && a.imag() == b.imag();
  }
};
struct complex_not_equal {
  template <class C>
  uint8_t operator()(C a, C b) const {
    return !complex_equal{}(a, b);
  }
};
struct complex_negate {
  template <class C>
  C operator()(C a) const {
    return {-a.real(), -a.imag()};
  }
};
struct complex_square {
  template <class C>
  C operator()(C a) const {
    return complex_multiply{}(a, a);
  }
};

template <class C>
tile_fn find_complex(expr_op op) {
  switch (op) {
  case expr_op::add: return complex_loop<C, complex_add>;
  case expr_op::subtract: return complex_loop<C, complex_subtract>;
  case expr_op::multiply: return complex_loop<C, complex_multiply>;
  case expr_op::equal: return complex_loop<C, complex_equal>;
  case expr_op::not_equal: return complex_loop<C, complex_not_equal>;
  case expr_op::negate: return complex_unary_loop<C, complex_negate>;
  case expr_op::square: return complex_unary_loop<C, complex_square>;
  default: return nullptr;
  }
}

bool is_unary(expr_op op) {
  return op == expr_op::negate || op == expr_op::absolute || op == expr_op::logical_not
         || (op >= expr_op::square && op <= expr_op::is_nan);
}

bool is_math(expr_op op) {
  return op == expr_op::exp || op == expr_op::log || op == expr_op::tanh || op == expr_op::sin
         || op == expr_op::cos || op == expr_op::power;
}

} // namespace

tile_fn find_complex_tile(expr_op op, dtype type) noexcept {
  return type == dtype::complex64 ? find_complex<std::complex<float>>(op)
                                  : find_complex<std::complex<double>>(op);
}

tile_fn find_tile(expr_op op, dtype type, tile_form form, dtype to) noexcept {
  const bool plain = form == tile_form::vectors;
  if (type == dtype::string || (!plain && is_unary(op)))
    return nullptr;
  if (op == expr_op::cast)
    return plain ? find_cast_tile(type, to) : nullptr;
  if (op == expr_op::where)
    return plain ? find_select_tile(size_of(type)) : nullptr;
  if (is_complex(type))
    return plain ? find_complex_tile(op, type) : nullptr;
  if ((op >= expr_op::equal && op <= expr_op::greater_equal) || op == expr_op::is_nan)
    return find_comparison_tile(op, type, form);
  if (type == dtype::float16 || type == dtype::bfloat16)
    return find_small_float_tile(op, type, form);
  if (!is_floating(type))
    return find_integer_tile(op, type, form);
  if (is_math(op))
    return plain ? find_math_tile(op, type) : nullptr;
  return find_float_tile(op, type, form);
}

} // namespace headrace::detail::kernels
