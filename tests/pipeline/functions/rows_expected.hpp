#pragma once

#include "headrace/pipeline/functions/io.hpp"
#include "headrace/pipeline/functions/math.hpp"
#include "headrace/pipeline/functions/strings.hpp"
#include "tests/pipeline/functions/support.hpp"
#include "tests/pipeline/support/expected_rows.hpp"

/// Helpers that compare the results of functions of rows with the results of TensorFlow, which
/// tests/data/expected/compute_functions.py computed.
namespace headrace::detail::test {

inline void expect_same(const std::string& name, const dataset_ptr& graph) {
  static const test::expected_rows all{"functions.txt"};
  all.compare(name, graph);
}

template <class F>
dataset_ptr map(const dataset_ptr& in, F f) {
  return make_map(in, test::traced(in, f)).value();
}
/// Compares the results of `f` for the rows of `in` with the expected rows of the case `name`.
template <class F>
void expect_same(const std::string& name, const dataset_ptr& in, F f) {
  expect_same(name, map(in, f));
}

inline dataset_ptr records(const std::string& path,
                           file_compression compression = file_compression::none) {
  return make_tfrecord(string_constant(std::vector{path}), compression).value();
}
inline expr thousandths(const expr& x) { return cast<int64_t>(round(x * 1000.0f)); }

} // namespace headrace::detail::test
