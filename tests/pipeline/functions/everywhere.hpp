#pragma once

#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "tests/pipeline/functions/support.hpp"
#include "tests/pipeline/kernels/targets.hpp"

namespace headrace::detail::test {

/// The function after it was encoded in a graph and decoded again.
inline function through_a_graph(const function& f) {
  auto in =
    make_distribute(f.argument, unknown_cardinality, {.address = "host:1", .dataset_id = "x"})
      .value();
  auto graph = make_map(in, std::make_shared<const function>(f)).value();
  const auto bytes = encode_graph(graph).value();
  const auto back = decode_graph(bytes).value();
  EXPECT_EQ(fingerprint(back).value(), fingerprint(graph).value());
  EXPECT_EQ(back->spec, graph->spec);
  return *back->body;
}

/// Applies `f` to the rows. Checks that the result is the same (values, shapes and errors; all bits
/// except those of NaNs) for blocks of one row, after encoding and decoding `f`, and on every
/// variant of the kernels; and that rows match the spec of the traced function.
template <class F>
block apply_everywhere(std::vector<column> columns, F&& f) {
  std::vector<element_spec> parts;
  for (const auto& c : columns) parts.emplace_back(spec_of_column(c));
  const auto spec = parts.size() == 1 ? parts[0] : element_spec::tuple(parts);
  const auto made = trace(spec, std::forward<F>(f));
  const auto in = rows_of(std::move(columns));
  auto out = run(made, in);
  const auto wanted = print_rows(out);
  std::vector<std::string> singles;
  for (size_t r = 0; r < in.rows; ++r) {
    const auto one = run(made, in.slice(r, 1));
    EXPECT_EQ(one.rows, 1u);
    singles.push_back(print_rows(one).at(0));
  }
  EXPECT_EQ(singles, wanted) << "in blocks of one";
  EXPECT_EQ(print_rows(run(through_a_graph(made), in)), wanted) << "after a way through a graph";
  for (const auto target : targets_here()) {
    chosen_target choice{target};
    EXPECT_EQ(print_rows(run(made, in)), wanted) << hwy::TargetName(target);
  }
  for (size_t r = 0; r < out.rows; ++r)
    if (out.error_at(r) == nullptr)
      for (size_t i = 0; i < out.columns.size(); ++i) {
        const tensor_spec row{out.columns[i].type(), out.columns[i].shape_of(r)};
        EXPECT_TRUE(made.tensors[i]->spec.accepts(row))
          << to_string(row) << " is not " << to_string(made.tensors[i]->spec);
      }
  return out;
}

/// The messages of the error rows, as `row: message`.
inline std::vector<std::string> errors_of(const block& b) {
  std::vector<std::string> out;
  for (const auto& e : b.errors) out.push_back(std::to_string(e.row) + ": " + e.why.message());
  return out;
}

} // namespace headrace::detail::test
