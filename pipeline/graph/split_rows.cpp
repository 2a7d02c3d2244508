#include "headrace/pipeline/graph/split_rows.hpp"

#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/graph/row_order.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"

#include <unordered_set>

namespace headrace {

namespace {

/// Nothing in the operator is made of several rows, or depends on what came before a row.
bool keeps_apart(dataset_op op) {
  switch (op) {
  case dataset_op::map:
  case dataset_op::filter:
  case dataset_op::flat_map:
  case dataset_op::interleave:
  case dataset_op::shuffle:
  case dataset_op::repeat:
  case dataset_op::prefetch:
  case dataset_op::enumerate:
  case dataset_op::concatenate:
  case dataset_op::ignore_errors:
  case dataset_op::sample_from:
  case dataset_op::choose_from:
  case dataset_op::options:
  case dataset_op::sleep: return true;
  default: return is_source(op);
  }
}

bool gives_more_rows(dataset_op op) {
  return op == dataset_op::flat_map || op == dataset_op::interleave;
}

bool mixes_order(const dataset_node& node, const graph_options& options) {
  switch (node.op) {
  case dataset_op::shuffle:
  case dataset_op::interleave:
  case dataset_op::sample_from:
  case dataset_op::choose_from:
  case dataset_op::group_by_window: return true;
  default: return may_reorder(node, options, false);
  }
}

class looker {
public:
  explicit looker(const graph_options& options) : options_(options) {}

  void visit(const dataset_node& node) {
    if (!seen_.insert(&node).second)
      return;
    out.apart &= keeps_apart(node.op);
    out.single &= !gives_more_rows(node.op) && (!is_source(node.op) || splits_are_rows(node));
    out.in_order &= !mixes_order(node, options_);
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!is_whole(node, i))
        visit(*node.inputs[i]);
  }

  split_rows out{true, true, true};

private:
  const graph_options& options_;
  std::unordered_set<const dataset_node*> seen_;
};

} // namespace

split_rows split_rows_of(const dataset_node& graph) {
  const auto options = options_of(graph);
  looker l{options};
  l.visit(graph);
  l.out.single &= l.out.apart;
  return l.out;
}

} // namespace headrace
