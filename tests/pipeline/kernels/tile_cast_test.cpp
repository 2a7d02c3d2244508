#include "headrace/pipeline/kernels/tile.hpp"

#include "tests/pipeline/kernels/targets.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

namespace headrace::detail::kernels {
namespace {

using test::chosen_target;
using test::is_small;
using test::targets_here;

template <class From, class To>
void check_cast() {
  constexpr size_t n = 301;
  std::vector<From> from;
  // Small values fit every dtype.
  for (size_t i = 0; i < n; ++i)
    if constexpr (std::is_same_v<From, bool>)
      from.push_back(i % 3 == 0);
    else if constexpr (is_small<From>)
      from.push_back(From{static_cast<float>(i % 100)});
    else
      from.push_back(static_cast<From>(i % 100));
  std::unique_ptr<To[]> out{new To[n]};
  const std::unique_ptr<From[]> in{new From[n]};
  std::copy(from.begin(), from.end(), in.get());
  find_tile(expr_op::cast, dtype_of<From>, tile_form::vectors, dtype_of<To>)(out.get(), in.get(),
                                                                             nullptr, nullptr, n);
  for (size_t i = 0; i < n; ++i) {
    const auto x = static_cast<double>(static_cast<From>(from[i]));
    if constexpr (std::is_same_v<To, bool>)
      ASSERT_EQ(out[i], x != 0);
    else
      ASSERT_EQ(static_cast<double>(out[i]), x)
        << to_string(dtype_of<From>) << " to " << to_string(dtype_of<To>);
  }
}

template <class From>
void check_casts_from() {
  check_cast<From, bool>();
  check_cast<From, int8_t>();
  check_cast<From, int16_t>();
  check_cast<From, int32_t>();
  check_cast<From, int64_t>();
  check_cast<From, uint8_t>();
  check_cast<From, uint16_t>();
  check_cast<From, uint32_t>();
  check_cast<From, uint64_t>();
  check_cast<From, float16>();
  check_cast<From, bfloat16>();
  check_cast<From, float>();
  check_cast<From, double>();
}

TEST(Tiles, CastEveryPairOfDtypesInEveryVariant) {
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    check_casts_from<bool>();
    check_casts_from<int8_t>();
    check_casts_from<int16_t>();
    check_casts_from<int32_t>();
    check_casts_from<int64_t>();
    check_casts_from<uint8_t>();
    check_casts_from<uint16_t>();
    check_casts_from<uint32_t>();
    check_casts_from<uint64_t>();
    check_casts_from<float16>();
    check_casts_from<bfloat16>();
    check_casts_from<float>();
    check_casts_from<double>();
  }
}

} // namespace
} // namespace headrace::detail::kernels
