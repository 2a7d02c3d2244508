#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/random.hpp"
#include "headrace/pipeline/functions/sequences.hpp"
#include "tests/pipeline/functions/everywhere.hpp"

#include <fmt/format.h>

namespace headrace::detail {
namespace {

using namespace test;

template <class F>
std::vector<std::string> of(const std::vector<int64_t>& xs, F&& f) {
  return print_rows(apply_everywhere({scalars(xs)}, std::forward<F>(f)));
}

/// Does the same as `of`, but writes the values as decimal numbers.
template <class F>
std::vector<std::string> numbers_of(const std::vector<int64_t>& xs, F&& f) {
  const auto all = apply_everywhere({scalars(xs)}, [&](expr n) { return cast<double>(f(n)); });
  std::vector<std::string> out;
  for (size_t r = 0; r < all.rows; ++r) {
    const auto& c = all.columns[0];
    out.push_back(to_string(c.shape_of(r)) + ":");
    for (auto i = c.first_value(r); i < c.first_value(r + 1); ++i)
      out.back() += fmt::format(" {}", c.template values<double>()[static_cast<size_t>(i)]);
  }
  return out;
}

template <class F>
std::string first_error(int64_t x, F&& f) {
  const auto out = apply_everywhere({scalars(std::vector<int64_t>{x})}, std::forward<F>(f));
  return out.errors.empty() ? std::string{} : out.errors[0].why.message();
}

TEST(Extents, OfPlacesThatAreTrue) {
  const auto values = constant(std::vector<int64_t>{0, 3, 1, 2}).node();
  EXPECT_EQ(numbers_of({1, 3, 0}, [&](expr n) { return true_places(expr{values} > n); }),
            (std::vector<std::string>{"[2, 1]: 1 3", "[0, 1]:", "[3, 1]: 1 2 3"}));
  EXPECT_EQ(numbers_of({1},
                       [&](expr n) {
                         return true_places(reshape(expr{values}, {2, 2}) > n);
                       }),
            (std::vector<std::string>{"[2, 2]: 0 1 1 1"}));
  EXPECT_THROW(true_places(numbers({1})), error);
}

TEST(Extents, OfRandomNumbersGiveThoseOfTheSameKnownShape) {
  const auto seed = numbers({5, 6});
  const auto draws = [&](const auto& rows, const auto& columns) {
    const extents dims{extent{rows}, extent{columns}};
    return std::tuple{random::stateless_uniform(dims, seed),
                      random::stateless_uniform(dims, seed, int64_t{3}, int64_t{99}),
                      random::stateless_normal(dims, seed, 1.0, 2.0, dtype::float64),
                      random::stateless_truncated_normal(dims, seed)};
  };
  const auto computed =
    apply_everywhere({scalars(std::vector<int64_t>{3})}, [&](expr n) { return draws(n, n - 1); });
  const auto known = apply_everywhere({scalars(std::vector<int64_t>{3})},
                                      [&](expr) { return draws(int64_t{3}, int64_t{2}); });
  EXPECT_EQ(print_rows(computed), print_rows(known));
  EXPECT_NE(first_error(-1, [&](expr n) { return random::stateless_uniform({n}, seed); }), "");
}

TEST(Extents, DifferFromRowToRow) {
  EXPECT_EQ(numbers_of({1, 0, 2},
                       [](expr n) {
                         return fill({n, 2}, 7);
                       }),
            (std::vector<std::string>{"[1, 2]: 7 7", "[0, 2]:", "[2, 2]: 7 7 7 7"}));
  EXPECT_EQ(numbers_of({0, 3}, [](expr n) { return range(int64_t{0}, n); }),
            (std::vector<std::string>{"[0]:", "[3]: 0 1 2"}));
  EXPECT_EQ(numbers_of({1, 2},
                       [](expr n) {
                         return tile(constant(std::vector<int64_t>{5, 6}), {n});
                       }),
            (std::vector<std::string>{"[2]: 5 6", "[4]: 5 6 5 6"}));
  EXPECT_EQ(numbers_of({1, 2},
                       [](expr n) {
                         return repeat(constant(std::vector<int64_t>{5, 6}), n);
                       }),
            (std::vector<std::string>{"[2]: 5 6", "[4]: 5 5 6 6"}));
  EXPECT_EQ(numbers_of({1, 3}, [](expr n) { return linspace(0.0, 1.0, n); }),
            (std::vector<std::string>{"[1]: 0", "[3]: 0 0.5 1"}));
  EXPECT_EQ(numbers_of({1, 2}, [](expr n) { return eye(n, 2, dtype::int32); }),
            (std::vector<std::string>{"[1, 2]: 1 0", "[2, 2]: 1 0 0 1"}));
  EXPECT_EQ(numbers_of({1, 2},
                       [](expr n) {
                         return sequence_mask(stack({n, expr{int64_t{1}}}));
                       }),
            (std::vector<std::string>{"[2, 1]: 1 1", "[2, 2]: 1 1 1 0"}));
}

TEST(Extents, AreKnownWhereTheyAreNumbers) {
  const auto f = trace(tensor_spec{dtype::int64, {}}, [](expr n) {
    const auto six = constant(std::vector<int64_t>{1, 2, 3, 4, 5, 6});
    return std::tuple{fill({n, 3}, 1),
                      fill(stack({n, expr{int64_t{3}}}), 1),
                      fill({2, 3}, n),
                      reshape(six, {-1, n}),
                      tile(reshape(six, {2, 3}), {n, 2}),
                      repeat(reshape(six, {2, 3}), n, 1),
                      slice_along(reshape(six, {2, 3}), 1, n, n)};
  });
  constexpr auto any = shape::unknown;
  const std::vector<shape> wanted{{any, 3}, {any, 3}, {2, 3},  {any, any},
                                  {any, 6}, {2, any}, {2, any}};
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_EQ(f.tensors[i]->spec.dims, wanted[i]) << i;
}

TEST(Extents, AreNoMoreThanAnElementMayHave) {
  constexpr auto many = int64_t{1} << 40;
  EXPECT_EQ(first_error(many, [](expr n) { return fill({n}, 1); }),
            "fill: [1099511627776] has more than 1073741824 values");
  EXPECT_EQ(first_error(many,
                        [](expr n) {
                          return fill({n, n, n}, 1);
                        }),
            "fill: [1099511627776, 1099511627776, 1099511627776] has more than 1073741824 values");
  EXPECT_EQ(first_error(many, [](expr n) { return fill({n, 0}, 1); }), "");
  EXPECT_EQ(first_error(many, [](expr n) { return range(int64_t{0}, n); }),
            "range: it has more than 1073741824 values");
  EXPECT_EQ(first_error(many,
                        [](expr n) {
                          return repeat(constant(std::vector<int64_t>{5, 6}), n);
                        }),
            "repeat: [2199023255552] has more than 1073741824 values");
}

TEST(Extents, AreOfNoMoreTextThanAnElementMayHave) {
  const std::string text(1000, 'x');
  const auto why = " its strings have more than 1073741824 bytes";
  EXPECT_EQ(first_error(1 << 21, [&](expr n) { return fill({n}, text); }),
            std::string{"fill:"} + why);
  EXPECT_EQ(first_error(1 << 21, [&](expr n) { return tile(stack({expr{text}}), {n}); }),
            std::string{"tile:"} + why);
  EXPECT_EQ(first_error(1 << 21, [&](expr n) { return repeat(stack({expr{text}}), n); }),
            std::string{"repeat:"} + why);
  EXPECT_EQ(first_error(1 << 10, [&](expr n) { return fill({n}, text); }), "");
  // The result has the long string n times, and none of the n empty strings.
  EXPECT_EQ(first_error(1 << 21,
                        [&](expr n) {
                          const auto others = fill({n}, "");
                          const auto times = concat({stack({n}), fill({n}, int64_t{0})}, 0);
                          return repeat(concat({stack({expr{text}}), others}, 0), times);
                        }),
            std::string{"repeat:"} + why);
}

/// For every pair of bounds and every step, a slice with computed bounds gives the same values as
/// the slice with constant bounds, which follows numpy's rules.
TEST(Extents, OfSlicesAreThoseOfSlicesBetweenNumbers) {
  const auto five = constant(std::vector<int64_t>{0, 1, 2, 3, 4});
  std::vector<int64_t> bounds;
  for (int64_t i = -7; i <= 7; ++i) bounds.push_back(i);
  for (int64_t step : {1, 2, 3, -1, -2})
    for (int64_t stop : bounds) {
      const auto from =
        of(bounds, [&](expr n) { return slice_along(five, 0, n, expr{stop}, step); });
      const auto to = of(bounds, [&](expr n) { return slice_along(five, 0, expr{stop}, n, step); });
      const auto open =
        of(bounds, [&](expr n) { return slice_along(five, 0, n, std::nullopt, step); });
      for (size_t i = 0; i < bounds.size(); ++i) {
        EXPECT_EQ(from[i], of({0}, [&](expr) { return five.slice(bounds[i], stop, step); })[0]);
        EXPECT_EQ(to[i], of({0}, [&](expr) { return five.slice(stop, bounds[i], step); })[0]);
        EXPECT_EQ(open[i], of({0}, [&](expr) {
                    slice_spec part{.start = bounds[i], .step = step, .has_start = true};
                    return five.slice(std::vector{part});
                  })[0]);
      }
    }
}

} // namespace
} // namespace headrace::detail
