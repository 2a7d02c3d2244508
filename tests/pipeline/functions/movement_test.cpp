#include "tests/pipeline/functions/support.hpp"

#include <numeric>
#include <random>

namespace headrace::detail {
namespace {

using namespace test;

/// A tensor in a simple form, with which the tests compute the expected results: its extents, and
/// all values in row-major order.
struct naive {
  std::vector<int64_t> dims;
  std::vector<double> values;

  size_t place(const std::vector<int64_t>& at) const {
    size_t out = 0;
    for (size_t i = 0; i < dims.size(); ++i)
      out = out * static_cast<size_t>(dims[i]) + static_cast<size_t>(at[i]);
    return out;
  }
  double at(const std::vector<int64_t>& where) const { return values[place(where)]; }
};

/// Calls `f` with the indices of each value of a tensor of shape `dims`, in row-major order.
template <class F>
void for_each_place(const std::vector<int64_t>& dims, F&& f) {
  for (auto dim : dims)
    if (dim == 0)
      return;
  std::vector<int64_t> at(dims.size(), 0);
  for (;;) {
    f(at);
    size_t axis = dims.size();
    while (axis > 0 && ++at[axis - 1] == dims[axis - 1]) at[--axis] = 0;
    if (axis == 0)
      return;
  }
}

template <class F>
naive make(std::vector<int64_t> dims, F&& f) {
  naive out{std::move(dims), {}};
  for_each_place(out.dims, [&](const auto& at) { out.values.push_back(f(at)); });
  return out;
}

class Movement : public ::testing::Test {
protected:
  std::mt19937_64 random_{20};

  std::vector<int64_t> some_dims(size_t rank) {
    std::vector<int64_t> dims;
    for (size_t i = 0; i < rank; ++i) dims.push_back(1 + static_cast<int64_t>(random_() % 4));
    return dims;
  }
  std::vector<naive> some_rows(const std::vector<int64_t>& dims, size_t rows) {
    std::vector<naive> out;
    for (size_t r = 0; r < rows; ++r)
      out.push_back(make(dims, [&](const auto&) { return double(int(random_() % 200) - 100); }));
    return out;
  }
  static column column_of(const std::vector<naive>& rows) {
    std::vector<double> all;
    for (const auto& r : rows) all.insert(all.end(), r.values.begin(), r.values.end());
    return tensors(all, shape{rows[0].dims});
  }
  /// A column with the values of `rows` that stores the shape of each row.
  static column variable_of(const std::vector<naive>& rows) {
    buffer_builder values, starts, dims;
    int64_t n = 0;
    starts.push_back(n);
    for (const auto& r : rows) {
      values.append(r.values.data(), r.values.size() * 8);
      starts.push_back(n += static_cast<int64_t>(r.values.size()));
      for (auto dim : r.dims) dims.push_back(dim);
    }
    return column::variable(dtype::float64, rows[0].dims.size(), rows.size(), values.finish(),
                            starts.finish(), dims.finish());
  }
  static column strings_of(const std::vector<naive>& rows) {
    std::vector<std::string> all;
    for (const auto& r : rows)
      for (auto v : r.values) all.push_back(std::to_string(v));
    return texts(all).reshaped(shape{rows[0].dims}, rows.size());
  }
  static void expect_rows(const block& out, const std::vector<naive>& wanted,
                          const std::string& what) {
    ASSERT_TRUE(out.errors.empty()) << what << ": " << out.errors[0].why.message();
    const auto& c = out.columns[0];
    for (size_t r = 0; r < wanted.size(); ++r) {
      ASSERT_EQ(c.shape_of(r), shape{wanted[r].dims}) << what;
      for (size_t i = 0; i < wanted[r].values.size(); ++i) {
        const auto at = static_cast<size_t>(c.first_value(r)) + i;
        if (c.is_string()) {
          ASSERT_EQ(c.string(at), std::to_string(wanted[r].values[i])) << what;
        } else {
          ASSERT_EQ(c.values<double>()[at], wanted[r].values[i]) << what << " value " << i;
        }
      }
    }
  }
  /// Checks `f` against `reference` on dense rows, rows of unknown shape, and strings.
  template <class F, class R>
  void check(const std::vector<int64_t>& dims, const std::string& what, F&& f, R&& reference,
             bool numbers_only = false) {
    const auto rows = some_rows(dims, 1 + random_() % 5);
    std::vector<naive> wanted;
    for (const auto& r : rows) wanted.push_back(reference(r));
    expect_rows(apply({column_of(rows)}, f), wanted, what + " dense");
    expect_rows(apply({variable_of(rows)}, f), wanted, what + " variable");
    if (!numbers_only)
      expect_rows(apply({strings_of(rows)}, f), wanted, what + " strings");
  }
};

TEST_F(Movement, TransposesByAnyPermutation) {
  for (int round = 0; round < 60; ++round) {
    const auto dims = some_dims(1 + random_() % 4);
    std::vector<int64_t> order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    check(
      dims, "transpose", [&](expr x) { return transpose(x, order); },
      [&](const naive& x) {
        std::vector<int64_t> to;
        for (auto axis : order) to.push_back(dims[static_cast<size_t>(axis)]);
        return make(to, [&](const auto& at) {
          std::vector<int64_t> from(at.size());
          for (size_t i = 0; i < at.size(); ++i) from[static_cast<size_t>(order[i])] = at[i];
          return x.at(from);
        });
      });
  }
}

TEST_F(Movement, IndexesAsNumpyDoes) {
  for (int round = 0; round < 200; ++round) {
    const auto dims = some_dims(1 + random_() % 3);
    std::vector<slice_spec> parts;
    // For each axis the indices that are expected in the result: a single index for `at::index`, or
    // all indices that a slice takes.
    std::vector<std::vector<int64_t>> places;
    std::vector<bool> kept;
    const size_t named = random_() % (dims.size() + 1);
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto n = dims[i];
      std::vector<int64_t> all(static_cast<size_t>(n));
      std::iota(all.begin(), all.end(), 0);
      kept.push_back(true);
      if (i >= named) {
        places.push_back(all);
        continue;
      }
      if (random_() % 3 == 0) {
        const auto at = static_cast<int64_t>(random_() % static_cast<uint64_t>(2 * n)) - n;
        parts.push_back(at::index(at));
        places.push_back({at < 0 ? at + n : at});
        kept.back() = false;
        continue;
      }
      const auto step = static_cast<int64_t>(random_() % 3) + 1;
      const bool back = random_() % 3 == 0;
      const auto start = static_cast<int64_t>(random_() % 9) - 4;
      const auto stop = static_cast<int64_t>(random_() % 9) - 4;
      parts.push_back(at::range(start, stop, back ? -step : step));
      // As in Python: negative bounds count from the end, and others are limited to the length.
      auto from = start < 0 ? start + n : start, to = stop < 0 ? stop + n : stop;
      std::vector<int64_t> taken;
      if (back) {
        from = std::min(from, n - 1);
        to = std::max<int64_t>(to, -1);
        for (auto at = from; at > to && at >= 0; at -= step) taken.push_back(at);
      } else {
        from = std::max<int64_t>(from, 0);
        to = std::min(to, n);
        for (auto at = from; at < to; at += step) taken.push_back(at);
      }
      places.push_back(taken);
    }
    if (random_() % 4 == 0)
      parts.push_back(at::ellipsis());
    check(
      dims, "index", [&](expr x) { return x.slice(parts); },
      [&](const naive& x) {
        std::vector<int64_t> to, full;
        for (size_t i = 0; i < dims.size(); ++i) {
          full.push_back(static_cast<int64_t>(places[i].size()));
          if (kept[i])
            to.push_back(full.back());
        }
        auto out = make(full, [&](const auto& at) {
          std::vector<int64_t> from;
          for (size_t i = 0; i < at.size(); ++i)
            from.push_back(places[i][static_cast<size_t>(at[i])]);
          return x.at(from);
        });
        out.dims = to;
        return out;
      });
  }
}

TEST_F(Movement, StacksAndConcatenatesAlongAnyAxis) {
  for (int round = 0; round < 60; ++round) {
    const auto dims = some_dims(1 + random_() % 3);
    const auto axis = random_() % dims.size();
    const auto twice = [&](const auto& at) {
      auto from = at;
      from[axis] %= dims[axis];
      return from;
    };
    check(
      dims, "concat",
      [&](expr x) {
        return concat({x, x}, static_cast<int64_t>(axis));
      },
      [&](const naive& x) {
        auto to = dims;
        to[axis] *= 2;
        return make(to, [&](const auto& at) { return x.at(twice(at)); });
      });
    const auto new_axis = random_() % (dims.size() + 1);
    check(
      dims, "stack",
      [&](expr x) {
        return stack({x, x, x}, static_cast<int64_t>(new_axis));
      },
      [&](const naive& x) {
        auto to = dims;
        to.insert(to.begin() + static_cast<std::ptrdiff_t>(new_axis), 3);
        return make(to, [&](auto at) {
          at.erase(at.begin() + static_cast<std::ptrdiff_t>(new_axis));
          return x.at(at);
        });
      });
  }
}

TEST_F(Movement, StacksConstantsBesideRows) {
  auto out = apply({scalars<int64_t>({1, 2})}, [](expr x) {
    return concat({stack({x, 7}), constant(std::vector<int64_t>{9})}, 0);
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, 7, 9, 2, 7, 9}));
  out = apply({texts({"a", "b"})}, [](expr x) { return stack({x, "-", x}); });
  EXPECT_EQ(texts_of(out.columns[0]), (std::vector<std::string>{"a", "-", "a", "b", "-", "b"}));
}

TEST_F(Movement, ReshapesWithoutTouchingValues) {
  for (int round = 0; round < 30; ++round) {
    const auto dims = some_dims(1 + random_() % 3);
    const auto same = [](std::vector<int64_t> to) {
      return [to](const naive& x) { return naive{to, x.values}; };
    };
    int64_t n = 1;
    for (auto dim : dims) n *= dim;
    check(
      dims, "reshape",
      [&](expr x) {
        return reshape(x, {-1, 1});
      },
      same({n, 1}));
    auto more = dims;
    more.insert(more.begin() + 1, 1);
    check(
      dims, "expand_dims", [&](expr x) { return expand_dims(x, 1); }, same(more));
    check(
      dims, "squeeze", [&](expr x) { return squeeze(expand_dims(x, 1), {1}); }, same(dims));
  }
}

TEST_F(Movement, ReducesOverAnyAxes) {
  for (int round = 0; round < 120; ++round) {
    const auto dims = some_dims(1 + random_() % 4);
    std::vector<int64_t> axes, to;
    std::vector<bool> gone(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
      gone[i] = random_() % 2 == 0;
      if (gone[i])
        axes.push_back(static_cast<int64_t>(i));
      else
        to.push_back(dims[i]);
    }
    if (axes.empty())
      continue;
    const auto fold = [&](const naive& x, double start, auto&& f) {
      auto out = make(to, [&](const auto&) { return start; });
      for_each_place(dims, [&](const auto& at) {
        std::vector<int64_t> where;
        for (size_t i = 0; i < at.size(); ++i)
          if (!gone[i])
            where.push_back(at[i]);
        auto& slot = out.values[out.place(where)];
        slot = f(slot, x.at(at));
      });
      return out;
    };
    // The values are whole numbers, so that every order of addition gives the same sum.
    check(
      dims, "sum", [&](expr x) { return reduce_sum(x, axes); },
      [&](const naive& x) { return fold(x, 0, std::plus<>{}); }, true);
    check(
      dims, "max", [&](expr x) { return reduce_max(x, axes); },
      [&](const naive& x) {
        return fold(x, -INFINITY, [](double a, double b) { return std::max(a, b); });
      },
      true);
    check(
      dims, "min", [&](expr x) { return reduce_min(x, axes, true); },
      [&](const naive& x) {
        auto out = fold(x, INFINITY, [](double a, double b) { return std::min(a, b); });
        out.dims = dims;
        for (size_t i = 0; i < dims.size(); ++i)
          if (gone[i])
            out.dims[i] = 1;
        return out;
      },
      true);
  }
}

TEST_F(Movement, FindsTheFirstLargestAndSmallest) {
  auto out = apply({tensors<int16_t>({3, 9, 9, 1, 4, 1, 2, 2, 7, 0, 7, 0}, {2, 3})}, [](expr x) {
    return std::tuple{argmax(x, 1), argmin(x, 0), argmax(reshape(x, {6}))};
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{1, 1, 2, 1}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{1, 1, 1, 1, 0, 1}));
  EXPECT_EQ(values_of<int64_t>(out.columns[2]), (std::vector<int64_t>{1, 2}));
}

TEST_F(Movement, GathersAlongAnyAxis) {
  auto out = apply({tensors<float>({1, 2, 3, 4, 5, 6}, {2, 3}), tensors<int32_t>({2, 0}, {2})},
                   [](expr x, expr i) {
                     return std::tuple{gather(x, i, 1), gather(x, i - i)};
                   });
  EXPECT_EQ(values_of<float>(out.columns[0]), (std::vector<float>{3, 1, 6, 4}));
  EXPECT_EQ(values_of<float>(out.columns[1]), (std::vector<float>{1, 2, 3, 1, 2, 3}));
  out = apply({scalars<uint8_t>({1, 0})}, [](expr i) {
    return gather(constant(std::vector<std::string>{"no", "yes"}), i);
  });
  EXPECT_EQ(texts_of(out.columns[0]), (std::vector<std::string>{"yes", "no"}));
}

TEST_F(Movement, TellsShapesOfRows) {
  auto out = apply({vectors<float>({{1, 2}, {}, {3}})}, [](expr x) {
    return std::tuple{shape_of(x), size(x)};
  });
  EXPECT_EQ(values_of<int64_t>(out.columns[0]), (std::vector<int64_t>{2, 0, 1}));
  EXPECT_EQ(values_of<int64_t>(out.columns[1]), (std::vector<int64_t>{2, 0, 1}));
}

TEST_F(Movement, FillsWithAValueOfEachRow) {
  auto out = apply({scalars<int8_t>({1, 2})}, [](expr x) { return fill({2, 2}, x); });
  EXPECT_EQ(values_of<int8_t>(out.columns[0]), (std::vector<int8_t>{1, 1, 1, 1, 2, 2, 2, 2}));
  EXPECT_EQ(to_string(out.columns[0].row_shape()), "[2, 2]");
}

} // namespace
} // namespace headrace::detail
