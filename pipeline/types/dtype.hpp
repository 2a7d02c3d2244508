#pragma once

#include "headrace/pipeline/types/float16.hpp"
#include "headrace/runtime/base/result.hpp"

#include <complex>
#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>

namespace headrace {

/// The types of a tensor's values. The numbers are stored in graphs and sent on links, so they
/// never change.
enum class dtype : uint8_t {
  boolean = 1, ///< one byte, 0 or 1
  int8 = 2,
  int16 = 3,
  int32 = 4,
  int64 = 5,
  uint8 = 6,
  uint16 = 7,
  uint32 = 8,
  uint64 = 9,
  float16 = 10,
  bfloat16 = 11,
  float32 = 12,
  float64 = 13,
  complex64 = 14,
  complex128 = 15,
  string = 16, ///< bytes of any length
};

/// The name: `int64`, `bool`, `string` and so on.
std::string_view to_string(dtype type) noexcept;
/// The inverse of to_string; the error for another name lists the valid ones.
result<dtype> parse_dtype(std::string_view name);

/// The bytes of one value; 0 for strings.
constexpr size_t size_of(dtype type) noexcept {
  switch (type) {
  case dtype::boolean:
  case dtype::int8:
  case dtype::uint8: return 1;
  case dtype::int16:
  case dtype::uint16:
  case dtype::float16:
  case dtype::bfloat16: return 2;
  case dtype::int32:
  case dtype::uint32:
  case dtype::float32: return 4;
  case dtype::int64:
  case dtype::uint64:
  case dtype::float64:
  case dtype::complex64: return 8;
  case dtype::complex128: return 16;
  case dtype::string: return 0;
  }
  return 0;
}

constexpr bool is_signed_integer(dtype t) noexcept { return t >= dtype::int8 && t <= dtype::int64; }
constexpr bool is_unsigned_integer(dtype t) noexcept {
  return t >= dtype::uint8 && t <= dtype::uint64;
}
constexpr bool is_integer(dtype t) noexcept {
  return is_signed_integer(t) || is_unsigned_integer(t);
}
constexpr bool is_floating(dtype t) noexcept { return t >= dtype::float16 && t <= dtype::float64; }
constexpr bool is_complex(dtype t) noexcept {
  return t == dtype::complex64 || t == dtype::complex128;
}

namespace detail {
template <class T>
struct dtype_of_impl;
#define HEADRACE_DTYPE(type, name)                                                                 \
  template <>                                                                                      \
  struct dtype_of_impl<type> {                                                                     \
    static constexpr dtype value = dtype::name;                                                    \
  }
HEADRACE_DTYPE(bool, boolean);
HEADRACE_DTYPE(int8_t, int8);
HEADRACE_DTYPE(int16_t, int16);
HEADRACE_DTYPE(int32_t, int32);
HEADRACE_DTYPE(int64_t, int64);
HEADRACE_DTYPE(uint8_t, uint8);
HEADRACE_DTYPE(uint16_t, uint16);
HEADRACE_DTYPE(uint32_t, uint32);
HEADRACE_DTYPE(uint64_t, uint64);
HEADRACE_DTYPE(headrace::float16, float16);
HEADRACE_DTYPE(headrace::bfloat16, bfloat16);
HEADRACE_DTYPE(float, float32);
HEADRACE_DTYPE(double, float64);
HEADRACE_DTYPE(std::complex<float>, complex64);
HEADRACE_DTYPE(std::complex<double>, complex128);
HEADRACE_DTYPE(std::string, string);
HEADRACE_DTYPE(std::string_view, string);
#undef HEADRACE_DTYPE
} // namespace detail

/// The dtype whose values have the C++ type `T`.
template <class T>
inline constexpr dtype dtype_of = detail::dtype_of_impl<T>::value;

template <class T>
concept tensor_value = requires {
  detail::dtype_of_impl<T>::value;
};
/// The C++ type of tensor values that are stored in place.
template <class T>
concept plain_value = tensor_value<T> && dtype_of<T>
!= dtype::string;

/// Calls `f(T{})` with the C++ type of a plain `type`. @pre `type != dtype::string`
template <class F>
decltype(auto) visit_plain(dtype type, F&& f) {
  switch (type) {
  case dtype::boolean: return f(bool{});
  case dtype::int8: return f(int8_t{});
  case dtype::int16: return f(int16_t{});
  case dtype::int32: return f(int32_t{});
  case dtype::int64: return f(int64_t{});
  case dtype::uint8: return f(uint8_t{});
  case dtype::uint16: return f(uint16_t{});
  case dtype::uint32: return f(uint32_t{});
  case dtype::uint64: return f(uint64_t{});
  case dtype::float16: return f(headrace::float16{});
  case dtype::bfloat16: return f(headrace::bfloat16{});
  case dtype::float32: return f(float{});
  case dtype::float64: return f(double{});
  case dtype::complex64: return f(std::complex<float>{});
  case dtype::complex128: return f(std::complex<double>{});
  case dtype::string: break;
  }
  __builtin_unreachable();
}

} // namespace headrace
