#include "headrace/pipeline/kernels/reduce_angle.hpp"

#include <bit>

namespace headrace::detail::kernels {

namespace {

/// The first bits of 2/pi after the binary point.
constexpr uint64_t two_over_pi[] = {
  0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561,
  0xb7246e3a424dd2e0, 0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484,
  0xe99c7026b45f7e41, 0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
  0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d, 0x7527bac7ebe5f17b,
  0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b6bab, 0xf0cfbc209af4361d,
};

/// 64 bits of 2/pi from bit `first` on (0: the first one after the binary point; the bits before it
/// are zero).
uint64_t bits_from(int first) {
  if (first < 0)
    return first <= -64 ? 0 : two_over_pi[0] >> -first;
  const int word = first / 64, shift = first % 64;
  const uint64_t high = two_over_pi[word] << shift;
  return shift == 0 ? high : high | (two_over_pi[word + 1] >> (64 - shift));
}

} // namespace

uint64_t reduce_angle(double x, double& angle, double& tail) noexcept {
  __extension__ using wide = unsigned __int128;
  // |x| = m * 2^e. Quarter turns are counted modulo 2^64, so the bits of 2/pi are not needed whose
  // product with 2^e is 2^64 or more: 192 bits are used, from the bit on whose product is 2^63.
  const auto raw = std::bit_cast<uint64_t>(x);
  const uint64_t m = (raw & 0xfffffffffffffull) | 0x10000000000000ull;
  const int e = static_cast<int>((raw >> 52) & 0x7ff) - 1075;
  const int first = e - 64;
  const uint64_t a = bits_from(first), b = bits_from(first + 64), c = bits_from(first + 128);
  // m * (a, b, c) modulo 2^192 is the number of quarter turns: the top word is its integer part,
  // and the lower words are its fraction.
  const wide low = wide{m} * c;
  const wide middle = wide{m} * b + static_cast<uint64_t>(low >> 64);
  uint64_t turns = m * a + static_cast<uint64_t>(middle >> 64);
  uint64_t high_part = static_cast<uint64_t>(middle);
  uint64_t low_part = static_cast<uint64_t>(low);
  const bool round_up = (high_part >> 63) != 0;
  if (round_up) { // round to the nearest quarter turn: the remaining angle is negative then
    ++turns;
    low_part = ~low_part + 1;
    high_part = ~high_part + (low_part == 0);
  }
  // The fraction as two doubles: the leading 53 bits, and the following bits.
  const int zeros = high_part == 0 ? 64 : std::countl_zero(high_part);
  const wide fraction = (wide{high_part} << 64) | low_part;
  const wide normal = zeros == 0 ? fraction : fraction << zeros;
  const auto top = static_cast<uint64_t>(normal >> 75);
  const auto rest = static_cast<uint64_t>(normal >> 11);
  const double scale = std::bit_cast<double>(static_cast<uint64_t>(1023 - 53 - zeros) << 52);
  const double high = static_cast<double>(top) * scale;
  const double low_double = static_cast<double>(rest) * 0x1p-64 * scale;
  // The product of the fraction and pi/2 as a sum of two doubles, by Dekker's product.
  constexpr double pi_high = 1.57079632679489655800e+00, pi_low = 6.12323399573676603587e-17;
  constexpr double split = 134217729.0;
  const double hb = high * split, hh = hb - (hb - high), hl = high - hh;
  constexpr double pb = pi_high * split;
  const double ph = pb - (pb - pi_high), pl = pi_high - ph;
  const double product = high * pi_high;
  const double error = ((hh * ph - product) + hh * pl + hl * ph) + hl * pl;
  const double more = error + (high * pi_low + low_double * pi_high);
  angle = product + more;
  tail = (product - angle) + more;
  bool negative = round_up;
  if (x < 0) {
    turns = ~turns + 1;
    negative = !negative;
  }
  if (negative) {
    angle = -angle;
    tail = -tail;
  }
  return turns;
}

} // namespace headrace::detail::kernels
