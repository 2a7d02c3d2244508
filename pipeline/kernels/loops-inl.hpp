// Loops that apply a functor to runs of values. Sources that Highway's foreach_target.h compiles
// once for each target include this file. The loops contain no vector instructions, because the
// compiler vectorises them; so one source text serves all dtypes.
#if defined(HEADRACE_LOOPS_INL) == defined(HWY_TARGET_TOGGLE)
#  ifdef HEADRACE_LOOPS_INL
#    undef HEADRACE_LOOPS_INL
#  else
#    define HEADRACE_LOOPS_INL
#  endif

#  include <cstddef>
#  include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace headrace::detail::kernels::HWY_NAMESPACE {

// `ivdep` is correct even if the output is one of the inputs: no step of a loop reads a value that
// another step writes.
template <class Out, class In, class F>
void unary_loop(void* out, const void* a, const void*, const void*, size_t n) {
  auto* o = static_cast<Out*>(out);
  auto* x = static_cast<const In*>(a);
#  pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) o[i] = F{}(x[i]);
}

template <class Out, class In, class F>
void binary_loop(void* out, const void* a, const void* b, const void*, size_t n) {
  auto* o = static_cast<Out*>(out);
  auto* x = static_cast<const In*>(a);
  auto* y = static_cast<const In*>(b);
#  pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) o[i] = F{}(x[i], y[i]);
}

template <class Out, class In, class F>
void right_scalar_loop(void* out, const void* a, const void* b, const void*, size_t n) {
  auto* o = static_cast<Out*>(out);
  auto* x = static_cast<const In*>(a);
  const In y = *static_cast<const In*>(b);
#  pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) o[i] = F{}(x[i], y);
}

template <class Out, class In, class F>
void left_scalar_loop(void* out, const void* a, const void* b, const void*, size_t n) {
  auto* o = static_cast<Out*>(out);
  const In x = *static_cast<const In*>(a);
  auto* y = static_cast<const In*>(b);
#  pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) o[i] = F{}(x, y[i]);
}

template <class Out, class In, class F>
tile_fn all_forms(tile_form form) {
  switch (form) {
  case tile_form::vectors: return binary_loop<Out, In, F>;
  case tile_form::right_scalar: return right_scalar_loop<Out, In, F>;
  case tile_form::left_scalar: return left_scalar_loop<Out, In, F>;
  }
  return nullptr;
}

/// The loops of a function whose left operand is rarely a scalar. `left_scalar` has no loop.
template <class Out, class In, class F>
tile_fn right_forms(tile_form form) {
  switch (form) {
  case tile_form::vectors: return binary_loop<Out, In, F>;
  case tile_form::right_scalar: return right_scalar_loop<Out, In, F>;
  case tile_form::left_scalar: break;
  }
  return nullptr;
}

/// Calls `find` with a value of the C++ type of `type`, and returns the result; null if `type` is
/// not an integer type.
template <class Find>
tile_fn for_integer(dtype type, const Find& find) {
  switch (type) {
  case dtype::int8: return find(int8_t{});
  case dtype::int16: return find(int16_t{});
  case dtype::int32: return find(int32_t{});
  case dtype::int64: return find(int64_t{});
  case dtype::uint8: return find(uint8_t{});
  case dtype::uint16: return find(uint16_t{});
  case dtype::uint32: return find(uint32_t{});
  case dtype::uint64: return find(uint64_t{});
  default: return nullptr;
  }
}

} // namespace headrace::detail::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
