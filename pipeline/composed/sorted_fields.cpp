#include "headrace/pipeline/composed/sorted_fields.hpp"

#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::detail {

namespace {

/// Returns `x` with sorted fields, and appends the numbers of its leaves in their new order.
/// `first`: the number of the first leaf of `x`.
structure with_fields_sorted(const structure& x, size_t first, std::vector<size_t>& leaves) {
  if (x.is_leaf() || x.is_ragged()) {
    for (size_t i = 0; i < x.leaves(); ++i) leaves.push_back(first + i);
    return x;
  }
  const bool named = x.what() == structure::kind::named;
  std::vector<size_t> order(x.children().size());
  std::iota(order.begin(), order.end(), size_t{0});
  if (named)
    std::ranges::sort(order, {}, [&](size_t i) -> const std::string& { return x.names()[i]; });
  std::vector<structure> children;
  std::vector<std::string> names;
  for (auto i : order) {
    children.push_back(with_fields_sorted(x.children()[i], first + x.first_leaf(i), leaves));
    if (named)
      names.push_back(x.names()[i]);
  }
  auto out = named ? structure::named(std::move(names), std::move(children))
                   : structure::tuple(std::move(children));
  return out.labelled(x.label());
}

} // namespace

result<dataset_ptr> make_sorted_fields(dataset_ptr input) {
  const auto& spec = input->spec;
  std::vector<size_t> leaves;
  auto layout = with_fields_sorted(spec.layout, 0, leaves);
  if (layout == spec.layout)
    return input;
  auto f = std::make_shared<function>();
  f->scope = std::make_shared<const function_scope>();
  f->argument = spec;
  f->layout = std::move(layout);
  for (auto i : leaves)
    f->tensors.push_back(make_parameter(f->scope, static_cast<int64_t>(i), spec.components[i]));
  return make_map(std::move(input), std::move(f));
}

} // namespace headrace::detail
