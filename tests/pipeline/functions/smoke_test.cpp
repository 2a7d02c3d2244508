#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/program.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "headrace/pipeline/functions/trace.hpp"

#include <gtest/gtest.h>

namespace headrace {
namespace {

template <class T>
std::vector<T> values(const column& c) {
  auto xs = c.values<T>();
  return {xs.begin(), xs.end()};
}

block rows_of(std::vector<column> columns) {
  block out;
  out.rows = columns[0].rows();
  out.columns = std::move(columns);
  return out;
}

TEST(Functions, SquareWholeColumnsAtOnce) {
  auto f = trace(tensor_spec{dtype::int64, {}}, [](expr x) { return x * x + 1; });
  std::vector<int64_t> xs{1, 2, 3, 4};
  kernel_counter counter;
  auto out = compile(f).run(rows_of({column::of_scalars<int64_t>(xs)}), nullptr, counter);
  EXPECT_EQ(values<int64_t>(out.columns[0]), (std::vector<int64_t>{2, 5, 10, 17}));
  EXPECT_EQ(counter.calls, 2u);
}

TEST(Functions, FailsOnlyTheRowThatDividesByZero) {
  auto f = trace(tensor_spec{dtype::int64, {}}, [](expr x) {
    return std::tuple{100 / x, where(x != 0, 100 / x, -1)};
  });
  std::vector<int64_t> xs{1, 0, 3};
  kernel_counter counter;
  auto out = compile(f).run(rows_of({column::of_scalars<int64_t>(xs)}), nullptr, counter);
  ASSERT_EQ(out.errors.size(), 1u);
  EXPECT_EQ(out.errors[0].row, 1u);
  EXPECT_EQ(out.errors[0].why.message(), "divide: integer division by zero");
  auto g = trace(tensor_spec{dtype::int64, {}}, [](expr x) { return where(x != 0, 100 / x, -1); });
  out = compile(g).run(rows_of({column::of_scalars<int64_t>(xs)}), nullptr, counter);
  EXPECT_TRUE(out.errors.empty());
  EXPECT_EQ(values<int64_t>(out.columns[0]), (std::vector<int64_t>{100, -1, 33}));
}

TEST(Functions, SplitAndJoin) {
  auto f = trace(tensor_spec{dtype::string, {}}, [](expr x) {
    return strings::reduce_join(strings::upper(strings::split(x)), "-");
  });
  std::vector<std::string_view> xs{"a b  c", "", " hello"};
  kernel_counter counter;
  auto out = compile(f).run(rows_of({column::of_strings(xs)}), nullptr, counter);
  EXPECT_EQ(out.columns[0].string(0), "A-B-C");
  EXPECT_EQ(out.columns[0].string(1), "");
  EXPECT_EQ(out.columns[0].string(2), "HELLO");
}

} // namespace
} // namespace headrace
