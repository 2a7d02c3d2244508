#include "headrace/pipeline/graph/free_parameters.hpp"

#include <unordered_map>
#include <unordered_set>
#include <utility>

namespace headrace::detail {

namespace {

class parameter_finder {
public:
  void visit(const dataset_ptr& x) {
    if (!seen_.insert(x.get()).second)
      return;
    for (const auto& input : x->inputs) visit(input);
    for (const auto& tensor : x->tensors) visit(tensor);
    if (!x->body)
      return;
    inside_.insert(x->body->scope.get());
    for (const auto& tensor : x->body->tensors) visit(tensor);
    if (x->body->dataset)
      visit(x->body->dataset);
  }
  std::vector<expr_ptr> found() const {
    std::vector<expr_ptr> out;
    for (const auto& x : parameters_)
      if (!inside_.contains(x->scope.get()))
        out.push_back(x);
    return out;
  }

private:
  void visit(const expr_ptr& x) {
    if (!seen_.insert(x.get()).second)
      return;
    if (x->op == expr_op::parameter)
      parameters_.push_back(x);
    for (const auto& input : x->inputs) visit(input);
  }

  std::unordered_set<const void*> seen_;
  std::unordered_set<const function_scope*> inside_;
  std::vector<expr_ptr> parameters_;
};

/// Replaces free parameters by values: copies the nodes that use one, and shares the other nodes.
class binder {
public:
  binder(const std::vector<expr_ptr>& free, const std::function<expr_ptr(const expr_ptr&)>& value) {
    for (const auto& x : free) expressions_.emplace(x.get(), value(x));
  }

  dataset_ptr visit(const dataset_ptr& x) {
    if (const auto known = datasets_.find(x.get()); known != datasets_.end())
      return known->second;
    auto copy = *x;
    bool other = visit_all(copy.inputs);
    other |= visit_all(copy.tensors);
    if (x->body) {
      auto body = *x->body;
      bool other_body = visit_all(body.tensors);
      if (body.dataset)
        other_body |= visit_in_place(body.dataset);
      if (other_body)
        copy.body = std::make_shared<const function>(std::move(body));
      other |= other_body;
    }
    auto out = other ? std::make_shared<const dataset_node>(std::move(copy)) : x;
    datasets_.emplace(x.get(), out);
    return out;
  }

private:
  expr_ptr visit(const expr_ptr& x) {
    if (const auto known = expressions_.find(x.get()); known != expressions_.end())
      return known->second;
    auto copy = *x;
    auto out = visit_all(copy.inputs) ? std::make_shared<const expr_node>(std::move(copy)) : x;
    expressions_.emplace(x.get(), out);
    return out;
  }
  template <class T>
  bool visit_in_place(std::shared_ptr<const T>& x) {
    auto other = visit(x);
    return std::exchange(x, other) != other;
  }
  template <class T>
  bool visit_all(std::vector<std::shared_ptr<const T>>& all) {
    bool changed = false;
    for (auto& x : all) changed |= visit_in_place(x);
    return changed;
  }

  std::unordered_map<const expr_node*, expr_ptr> expressions_;
  std::unordered_map<const dataset_node*, dataset_ptr> datasets_;
};

} // namespace

std::vector<expr_ptr> free_parameters(const dataset_ptr& graph) {
  parameter_finder all;
  all.visit(graph);
  return all.found();
}

dataset_ptr bind_parameters(const dataset_ptr& graph,
                            const std::function<expr_ptr(const expr_ptr&)>& value) {
  const auto free = free_parameters(graph);
  return free.empty() ? graph : binder{free, value}.visit(graph);
}

} // namespace headrace::detail
