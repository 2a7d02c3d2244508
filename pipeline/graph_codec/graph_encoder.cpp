#include "headrace/pipeline/graph_codec/graph_encoder.hpp"

#include "headrace/pipeline/codec/spec_codec.hpp"
#include "headrace/pipeline/graph_codec/expression_codec.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/graph_codec/reference_codec.hpp"

#include <fmt/format.h>

namespace headrace::detail {

void graph_encoder::visit(const expr_ptr& x) {
  if (expression_numbers_.contains(x.get()))
    return;
  for (const auto& input : x->inputs) visit(input);
  if (x->op == expr_op::constant)
    constant_bytes_ += x->attrs.value.bytes();
  expression_numbers_.emplace(x.get(), static_cast<uint32_t>(expressions_.size()));
  expressions_.push_back(x.get());
}

void graph_encoder::visit(const function_ptr& x) {
  if (!x || function_numbers_.contains(x.get()))
    return;
  const auto number = static_cast<uint32_t>(functions_.size());
  function_numbers_.emplace(x.get(), number);
  functions_.push_back(x.get());
  if (x->scope)
    scope_numbers_.emplace(x->scope.get(), number);
  for (const auto& tensor : x->tensors) visit(tensor);
  if (x->dataset)
    visit(x->dataset);
}

void graph_encoder::visit(const dataset_ptr& x) {
  if (dataset_numbers_.contains(x.get()))
    return;
  for (const auto& input : x->inputs) visit(input);
  for (const auto& tensor : x->tensors) visit(tensor);
  for (const auto& f : fields_of(*x)) constant_bytes_ += f.missing ? f.missing->bytes() : 0;
  visit(x->body);
  dataset_numbers_.emplace(x.get(), static_cast<uint32_t>(datasets_.size()));
  datasets_.push_back(x.get());
}

status graph_encoder::encode(const dataset_ptr& graph, schema::DatasetGraph::Builder out) {
  visit(graph);
  if (constant_bytes_ > most_graph_constants)
    return resource_exhausted(fmt::format(
      "the graph's constants take {} bytes, at most {} fit; read larger tensors from files",
      constant_bytes_, most_graph_constants));
  auto expressions = out.initExpressions(static_cast<unsigned>(expressions_.size()));
  for (unsigned i = 0; i < expressions.size(); ++i) {
    const auto& x = *expressions_[i];
    expression_numbers numbers;
    for (const auto& input : x.inputs) numbers.inputs.push_back(number(input));
    if (x.op == expr_op::parameter) {
      const auto scope = scope_numbers_.find(x.scope.get());
      if (scope == scope_numbers_.end())
        return invalid_argument(
          "the graph uses a parameter of a function outside of that function's body");
      numbers.function = scope->second;
    }
    detail::encode(x, numbers, expressions[i]);
  }
  auto functions = out.initFunctions(static_cast<unsigned>(functions_.size()));
  for (unsigned i = 0; i < functions.size(); ++i) write(*functions_[i], functions[i]);
  auto datasets = out.initDatasets(static_cast<unsigned>(datasets_.size()));
  for (unsigned i = 0; i < datasets.size(); ++i) {
    node_writer to{*this, *datasets_[i], datasets[i]};
    record_of(*datasets_[i]).encode(*datasets_[i], to);
  }
  return {};
}

void graph_encoder::write(const function& x, schema::Function::Builder out) const {
  detail::encode(x.argument, out.initArgument());
  if (!x.named.empty()) {
    auto named = out.initNamed();
    detail::write_reference(named, x.named);
    named.setDeterministic(x.deterministic);
    detail::encode(x.declared, named.initResult());
  } else if (x.dataset) {
    out.setDataset(number(x.dataset));
  } else {
    auto tensors = out.initTensors();
    detail::encode(x.layout, tensors.initLayout());
    auto leaves = tensors.initLeaves(static_cast<unsigned>(x.tensors.size()));
    for (unsigned i = 0; i < leaves.size(); ++i) leaves.set(i, number(x.tensors[i]));
  }
}

} // namespace headrace::detail
