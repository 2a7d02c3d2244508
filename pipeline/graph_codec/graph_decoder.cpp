#include "headrace/pipeline/graph_codec/graph_decoder.hpp"

#include "headrace/pipeline/codec/field_codec.hpp"
#include "headrace/pipeline/functions/representation/expression_makers.hpp"
#include "headrace/pipeline/graph_codec/expression_codec.hpp"
#include "headrace/pipeline/graph_codec/node_codec.hpp"
#include "headrace/pipeline/graph_codec/reference_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

constexpr size_t most_nodes = 1 << 16;
// Nodes are visited and released recursively, so the depth is bounded.
constexpr size_t most_expression_depth = 1024;
constexpr size_t most_dataset_depth = 256;
constexpr size_t most_weight = 1 << 16;

} // namespace

template <class Ptr, class User>
result<Ptr> graph_decoder::find(const std::vector<decoded<Ptr>>& all, uint32_t number,
                                const char* kind, decoded<User>& user) const {
  if (number >= all.size())
    return invalid_argument(
      fmt::format("{} {} is used before it was made ({} were)", kind, number, all.size()));
  const auto& used = all[number];
  user.free.insert(used.free.begin(), used.free.end());
  user.depth = std::max(user.depth, used.depth + 1);
  user.weight = std::min(user.weight + used.weight, most_weight + 1);
  return used.value;
}

result<expr_ptr> graph_decoder::tensor(uint32_t number, decoded<dataset_ptr>& user) const {
  const auto depth = user.depth, weight = user.weight;
  auto out = find(expressions_, number, "expression", user);
  user.depth = depth; // the depth of expressions has a bound of its own
  user.weight = weight;
  return out;
}

result<dataset_ptr> graph_decoder::input(uint32_t number, decoded<dataset_ptr>& user) const {
  return find(datasets_, number, "dataset", user);
}

result<function_ptr> graph_decoder::body(uint32_t number, decoded<dataset_ptr>& user) {
  HEADRACE_ASSIGN(const auto* made, finish_function(number));
  user.free.insert(made->free.begin(), made->free.end());
  user.depth = std::max(user.depth, made->depth + 1);
  user.weight = std::min(user.weight + made->weight, most_weight + 1);
  return made->value;
}

result<graph_decoder::decoded<expr_ptr>> graph_decoder::decode(schema::Expression::Reader in) {
  decoded<expr_ptr> out;
  if (static_cast<expr_op>(in.getOp()) == expr_op::parameter) {
    const auto number = in.getFunction();
    if (number >= started_.size())
      return invalid_argument(
        fmt::format("a parameter of function {}, of {} that there are", number, started_.size()));
    const auto& f = *started_[number];
    const auto index = in.getIndex();
    if (index < 0 || static_cast<size_t>(index) >= f.argument.components.size())
      return invalid_argument(fmt::format("parameter {} of function {}, which takes {}", index,
                                          number, to_string(f.argument)));
    out.value = make_parameter(f.scope, index, f.argument.components[static_cast<size_t>(index)]);
    out.free.insert(number);
    return out;
  }
  std::vector<expr_ptr> inputs;
  for (auto number : in.getInputs()) {
    HEADRACE_ASSIGN(auto x, find(expressions_, number, "expression", out));
    inputs.push_back(std::move(x));
  }
  if (out.depth > most_expression_depth)
    return invalid_argument(
      fmt::format("expressions nested more than {} deep", most_expression_depth));
  HEADRACE_ASSIGN(out.value, decode_expression(in, std::move(inputs)));
  return out;
}

status graph_decoder::start_function(schema::Function::Reader in) {
  auto f = std::make_shared<function>();
  f->scope = std::make_shared<const function_scope>();
  HEADRACE_ASSIGN(f->argument, detail::decode(in.getArgument()));
  started_.push_back(std::move(f));
  functions_.emplace_back();
  return {};
}

result<const graph_decoder::decoded<function_ptr>*>
graph_decoder::finish_function(uint32_t number) {
  if (number >= functions_.size())
    return invalid_argument(
      fmt::format("function {}, of {} that there are", number, functions_.size()));
  auto& out = functions_[number];
  if (out.value)
    return &out;
  auto f = started_[number];
  auto in = functions_in_[number];
  switch (in.which()) {
  case schema::Function::TENSORS: {
    HEADRACE_ASSIGN(f->layout, detail::decode(in.getTensors().getLayout()));
    for (auto leaf : in.getTensors().getLeaves()) {
      const auto depth = out.depth;
      HEADRACE_ASSIGN(auto x, find(expressions_, leaf, "expression", out));
      out.depth = depth;
      out.weight = 1;
      f->tensors.push_back(std::move(x));
    }
    if (f->tensors.size() != f->layout.leaves())
      return invalid_argument(fmt::format("function {} gives {} tensors for {} leaves", number,
                                          f->tensors.size(), f->layout.leaves()));
    break;
  }
  case schema::Function::DATASET: {
    HEADRACE_ASSIGN(f->dataset, find(datasets_, in.getDataset(), "dataset", out));
    break;
  }
  case schema::Function::NAMED: {
    f->named = detail::read_reference(in.getNamed());
    if (f->named.empty())
      return invalid_argument(fmt::format("function {} has no name", number));
    f->deterministic = in.getNamed().getDeterministic();
    HEADRACE_ASSIGN(f->declared, detail::decode(in.getNamed().getResult()));
    break;
  }
  default:
    return invalid_argument(
      fmt::format("function {} is of a kind that this build does not know", number));
  }
  out.free.erase(number);
  out.value = std::move(f);
  return &out;
}

result<std::vector<expr_ptr>> graph_decoder::tensors(::capnp::List<uint32_t>::Reader numbers,
                                                     decoded<dataset_ptr>& user) const {
  std::vector<expr_ptr> out;
  for (auto number : numbers) {
    HEADRACE_ASSIGN(auto x, tensor(number, user));
    out.push_back(std::move(x));
  }
  return out;
}

result<std::vector<dataset_ptr>> graph_decoder::inputs(::capnp::List<uint32_t>::Reader numbers,
                                                       decoded<dataset_ptr>& user) const {
  std::vector<dataset_ptr> out;
  for (auto number : numbers) {
    HEADRACE_ASSIGN(auto rows, input(number, user));
    out.push_back(std::move(rows));
    if (user.weight > most_weight)
      break; // the graph is too large: `decode` refuses it after this dataset
  }
  return out;
}

result<dataset_ptr> graph_decoder::decode_dataset(schema::Dataset::Reader in,
                                                  decoded<dataset_ptr>& user) {
  const auto* record = find_record_of_arm(static_cast<uint16_t>(in.which()));
  if (record == nullptr)
    return unimplemented(
      fmt::format("dataset operator {} is not known to this build", static_cast<int>(in.which())));
  node_reader from{*this, user, in};
  return record->decode(from);
}

result<dataset_ptr> graph_decoder::decode(schema::DatasetGraph::Reader in) {
  in_ = in;
  functions_in_ = in.getFunctions();
  const auto nodes =
    size_t{in.getExpressions().size()} + in.getFunctions().size() + in.getDatasets().size();
  if (nodes > most_nodes)
    return resource_exhausted(
      fmt::format("a graph of {} nodes, at most {} are allowed", nodes, most_nodes));
  if (in.getDatasets().size() == 0)
    return invalid_argument("a graph without a dataset");
  for (auto f : in.getFunctions())
    if (auto why = start_function(f); !why.ok())
      return why.with_context(fmt::format("function {}", started_.size()));
  for (auto x : in.getExpressions()) {
    auto made = decode(x);
    if (!made)
      return made.status().with_context(fmt::format("expression {}", expressions_.size()));
    expressions_.push_back(*std::move(made));
  }
  for (auto x : in.getDatasets()) {
    decoded<dataset_ptr> out;
    auto made = decode_dataset(x, out);
    if (!made)
      return made.status().with_context(fmt::format("dataset {}", datasets_.size()));
    if (out.depth > most_dataset_depth || out.weight > most_weight)
      return resource_exhausted(
        fmt::format("dataset {}: the graph is more than {} operators deep, or more than {} run",
                    datasets_.size(), most_dataset_depth, most_weight));
    out.value = *std::move(made);
    datasets_.push_back(std::move(out));
  }
  const auto& top = datasets_.back();
  if (!top.free.empty())
    return invalid_argument(fmt::format(
      "a parameter of function {} is used outside of that function", *top.free.begin()));
  HEADRACE_TRY(check_gives_tensors(*top.value));
  return top.value;
}

} // namespace headrace::detail
