#include "headrace/pipeline/graph/rewrite.hpp"

#include <map>
#include <unordered_set>
#include <utility>

namespace headrace::detail {

namespace {

class node_finder {
public:
  explicit node_finder(const std::function<bool(const dataset_node&)>& is) : is_(is) {}

  bool visit(const dataset_node& node) {
    if (!seen_.insert(&node).second)
      return false;
    if (is_(node) || (node.body && node.body->dataset && visit(*node.body->dataset)))
      return true;
    for (const auto& x : node.inputs)
      if (visit(*x))
        return true;
    return false;
  }

private:
  const std::function<bool(const dataset_node&)>& is_;
  std::unordered_set<const dataset_node*> seen_;
};

class rewriter {
public:
  explicit rewriter(const std::function<bool(dataset_node&, bool)>& edit) : edit_(edit) {}

  dataset_ptr visit(const dataset_ptr& node, bool in_function) {
    const std::pair key{node.get(), in_function};
    if (const auto known = made_.find(key); known != made_.end())
      return known->second;
    auto out = *node;
    bool changed = edit_(out, in_function);
    for (auto& x : out.inputs) changed |= replace(x, in_function);
    if (out.body && out.body->dataset) {
      auto body = *out.body;
      if (replace(body.dataset, true)) {
        out.body = std::make_shared<const function>(std::move(body));
        changed = true;
      }
    }
    auto made = changed ? std::make_shared<const dataset_node>(std::move(out)) : node;
    made_.emplace(key, made);
    return made;
  }

private:
  bool replace(dataset_ptr& x, bool in_function) {
    const auto* before = x.get();
    x = visit(x, in_function);
    return x.get() != before;
  }

  const std::function<bool(dataset_node&, bool)>& edit_;
  std::map<std::pair<const dataset_node*, bool>, dataset_ptr> made_;
};

} // namespace

bool any_node(const dataset_ptr& graph, const std::function<bool(const dataset_node&)>& is) {
  return node_finder{is}.visit(*graph);
}

dataset_ptr finish_over(dataset_node changed) {
  if (changed.cardinality != infinite_cardinality)
    changed.cardinality = unknown_cardinality;
  return std::make_shared<const dataset_node>(std::move(changed));
}

dataset_ptr rewrite_nodes(const dataset_ptr& graph,
                          const std::function<bool(dataset_node&, bool)>& edit) {
  return rewriter{edit}.visit(graph, false);
}

} // namespace headrace::detail
