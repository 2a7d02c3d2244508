#include "tests/actors/rounds/round_rules.hpp"

#include <chrono>
#include <gtest/gtest.h>
#include <utility>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

TEST(RoundRules, BoundTheNumberOfMissedRounds) {
  constexpr auto second_long = std::chrono::nanoseconds{1s}.count();
  const std::vector<round_reading> all{
    {"a", 0, false, {0, 1, 2, 3, 4, 5, 6, 7}, {}, {}},
    {"b", 1, true, {0, 1, 2, 3}, {}, {0, 1, 5 * second_long, 6 * second_long}},
    {"c", 1, false, {6, 7}, {}, {}}};
  const auto missed = missed_in(all, 2);
  EXPECT_EQ(missed.sure, 2u);
  EXPECT_EQ(missed.perhaps, 2u);
  EXPECT_NE(miscounted(missed, 1, false), "");
  EXPECT_EQ(miscounted(missed, 2, false), "");
  EXPECT_EQ(miscounted(missed, 4, false), "");
  EXPECT_NE(miscounted(missed, 5, false), "");
  EXPECT_EQ(miscounted(missed, 5, true), "");
}

TEST(RoundRules, AreBrokenByWhatTheyForbid) {
  const std::vector<round_reading> good{{"a", 0, false, {0, 1, 2}, {0, 4, 2}},
                                        {"b", 1, false, {0, 1, 2}, {1, 5, 3}}};
  EXPECT_EQ(broken_rule(good, 2), "");
  const auto with = [&](auto change) {
    auto out = good;
    change(out);
    return broken_rule(out, 2);
  };
  EXPECT_NE(with([](auto& x) { x[1].elements[1] = 7; }), "");
  EXPECT_NE(with([](auto& x) { x[1].elements[1] = (int64_t{1} << 32) + 5; }), "");
  EXPECT_NE(with([](auto& x) { x[1].rounds[2] = 3; }), "");
  EXPECT_NE(with([](auto& x) { std::swap(x[0].elements, x[1].elements); }), "");
  EXPECT_NE(with([](auto& x) {
              x[0].elements[2] = x[0].elements[0];
              x[1].elements[2] = x[1].elements[0];
            }),
            "");
  EXPECT_NE(with([](auto& x) { x.push_back(x[1]); }), "");
}

} // namespace
} // namespace headrace::detail::test
