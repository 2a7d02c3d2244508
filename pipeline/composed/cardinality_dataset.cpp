#include "headrace/pipeline/composed/cardinality_dataset.hpp"

#include "headrace/pipeline/functions/trace.hpp"
#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

dataset_ptr changed(dataset_ptr counts, const std::function<expr(expr)>& f) {
  auto spec = counts->spec;
  return make_map(std::move(counts), std::make_shared<const function>(trace(spec, f))).value();
}

dataset_ptr cardinality_of(const dataset_ptr& x) {
  if (x->cardinality != unknown_cardinality)
    return one_number(constant(x->cardinality));
  const auto compute = record_of(*x).cardinality;
  if (auto out = compute ? compute(x) : nullptr)
    return out;
  throw error{invalid_argument(
    fmt::format("cardinality: how many elements {} gives is not known before they are read: count "
                "them with reduce, or say it before with assert_cardinality",
                to_string(x->op)))};
}

} // namespace

dataset_ptr one_number(const expr& n) { return make_from_tensors({n.node()}).value(); }

dataset_ptr counted_elements(const dataset_ptr& x) {
  const std::function<expr(expr_structure)> nothing = [](const expr_structure&) {
    return constant(int64_t{0});
  };
  const std::function<expr(expr, expr)> one_more = [](const expr& n, const expr&) { return n + 1; };
  auto rows = make_map(x, std::make_shared<const function>(trace(x->spec, nothing))).value();
  const auto state = element_spec::tuple({rows->spec, rows->spec});
  return make_reduce(std::move(rows), {scalar_constant(0)},
                     std::make_shared<const function>(trace(state, one_more)))
    .value();
}

dataset_ptr cardinality_of_input(const dataset_ptr& x) { return cardinality_of(x->inputs[0]); }

dataset_ptr cardinality_of_singles(const dataset_ptr& x) {
  const auto& made = x->body->dataset;
  return made && made->cardinality == 1 ? cardinality_of_input(x) : nullptr;
}

dataset_ptr cardinality_by_input(const dataset_ptr& x, const std::function<expr(expr)>& f) {
  return changed(cardinality_of_input(x), f);
}

dataset_ptr cardinality_by_finite(const dataset_ptr& x, const std::function<expr(expr)>& f) {
  return cardinality_by_input(x, [&](const expr& n) { return where(n < 0, n, f(n)); });
}

dataset_ptr cardinality_by_inputs(const dataset_ptr& x, const std::function<expr(expr, expr)>& f) {
  std::vector<dataset_ptr> counts;
  for (const auto& input : x->inputs) counts.push_back(cardinality_of(input));
  auto together = make_zip(std::move(counts)).value();
  const auto spec = together->spec;
  const std::function<expr(expr_structure)> all = [&](const expr_structure& parts) {
    auto out = parts.child(0).single();
    for (size_t i = 1; i < x->inputs.size(); ++i) out = f(out, parts.child(i).single());
    return out;
  };
  return make_map(std::move(together), std::make_shared<const function>(trace(spec, all))).value();
}

expr number_of(const dataset_node& x, const known_number& known) {
  return known ? constant(*known) : expr{x.tensors.back()};
}

result<dataset_ptr> make_cardinality(const dataset_ptr& x) {
  try {
    return cardinality_of(x);
  } catch (const error& e) {
    return e.why();
  }
}

} // namespace headrace::detail
