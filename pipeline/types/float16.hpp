#pragma once

#include <bit>
#include <cstdint>

namespace headrace {

namespace detail {

/// Converts binary32 to IEEE 754 binary16, rounded to nearest even. Any NaN gives a quiet NaN.
constexpr uint16_t float_to_half(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u)
    return static_cast<uint16_t>(sign | 0x7e00u);
  if (magnitude >= 0x477ff000u) // rounds to 65536 or more
    return static_cast<uint16_t>(sign | 0x7c00u);
  if (magnitude < 0x38800000u) { // a subnormal half, or zero
    // Floats in [0.5, 1) are multiples of 2^-24, as subnormal halves are. So the addition of 0.5
    // rounds the value to a subnormal half, whose bits are the low bits of the sum.
    const auto shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  const uint32_t odd = (magnitude >> 13) & 1u;
  return static_cast<uint16_t>(sign | ((magnitude - 0x38000000u + 0xfffu + odd) >> 13));
}

constexpr float half_to_float(uint16_t half) noexcept {
  const uint32_t sign = uint32_t{half & 0x8000u} << 16;
  const uint32_t magnitude = half & 0x7fffu;
  if (magnitude >= 0x7c00u)
    return std::bit_cast<float>(sign | 0x7f800000u | ((magnitude & 0x3ffu) << 13));
  if (magnitude < 0x400u)
    return std::bit_cast<float>(
      sign | std::bit_cast<uint32_t>(static_cast<float>(magnitude) * 0x1p-24f));
  return std::bit_cast<float>(sign | ((magnitude << 13) + 0x38000000u));
}

/// Converts to bfloat16, rounded to nearest even. Any NaN gives a quiet NaN.
constexpr uint16_t float_to_bfloat(float value) noexcept {
  const auto bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u)
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

} // namespace detail

/// IEEE 754 binary16. Storage and conversion only: arithmetic happens in float.
struct float16 {
  uint16_t bits = 0;
  constexpr float16() noexcept = default;
  constexpr explicit float16(float x) noexcept : bits(detail::float_to_half(x)) {}
  constexpr operator float() const noexcept { return detail::half_to_float(bits); }
};

/// The upper half of a binary32. Storage and conversion only: arithmetic happens in float.
struct bfloat16 {
  uint16_t bits = 0;
  constexpr bfloat16() noexcept = default;
  constexpr explicit bfloat16(float x) noexcept : bits(detail::float_to_bfloat(x)) {}
  constexpr operator float() const noexcept { return std::bit_cast<float>(uint32_t{bits} << 16); }
};

} // namespace headrace
