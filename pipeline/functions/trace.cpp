#include "headrace/pipeline/functions/trace.hpp"

#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <fmt/format.h>

namespace headrace {
using namespace detail;

dataset_ptr elements_of(const expr_structure& datasets) {
  std::vector<expr_ptr> leaves;
  for (const auto& leaf : datasets.leaves()) leaves.push_back(leaf.node());
  return make_elements_of(std::move(leaves), datasets.layout()).value();
}

} // namespace headrace

namespace headrace::detail {

namespace {

expr_structure make_arguments(const function& f) {
  std::vector<expr> leaves;
  for (size_t i = 0; i < f.argument.components.size(); ++i)
    leaves.emplace_back(make_parameter(f.scope, static_cast<int64_t>(i), f.argument.components[i]));
  return {f.argument.layout, std::move(leaves)};
}

} // namespace

tracing::tracing(const element_spec& argument)
  : made_{.scope = std::make_shared<const function_scope>(), .argument = argument},
    argument_(make_arguments(made_)) {}

void tracing::wrong_arity() const {
  const auto& spec = made_.argument;
  throw error{invalid_argument(fmt::format(
    "the function must take {} `expr`s, one a component, or one `expr_structure`: elements are {}",
    spec.layout.is_leaf() ? 1 : spec.layout.children().size(), headrace::to_string(spec)))};
}

function tracing::with_tensors(const expr_structure& tensors) && {
  made_.layout = tensors.layout();
  for (const auto& leaf : tensors.leaves()) made_.tensors.push_back(leaf.node());
  if (const auto* scope = assertion_scope::current(); scope != nullptr && !made_.tensors.empty())
    made_.tensors.front() = scope->tie_all(expr{made_.tensors.front()}).node();
  return std::move(made_);
}

function tracing::with_dataset(dataset_ptr dataset) && {
  made_.dataset = std::move(dataset);
  const auto* scope = assertion_scope::current();
  if (scope == nullptr || scope->empty())
    return std::move(made_);
  // A flat_map takes the place of the dataset: its function returns the dataset, and its input has
  // one element, which fails if an assertion fails.
  auto held = make_from_tensors({scope->tie_all(expr{true}).node()}).value();
  tracing inner{held->spec};
  inner.made_.dataset = std::move(made_.dataset);
  made_.dataset =
    make_flat_map(std::move(held), std::make_shared<const function>(std::move(inner.made_)))
      .value();
  return std::move(made_);
}

} // namespace headrace::detail
