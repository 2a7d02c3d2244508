#include "headrace/pipeline/graph/split_rows.hpp"

#include "headrace/pipeline/graph/graph_options.hpp"
#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph/row_order.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"

#include <unordered_set>

namespace headrace::detail {

namespace {

class looker {
public:
  explicit looker(const graph_options& options) : options_(options) {}

  void visit(const dataset_node& node) {
    if (!seen_.insert(&node).second)
      return;
    const auto& facts = record_of(node).rows;
    out.apart &= facts.apart;
    out.single &= !facts.several && (!is_source(node.op) || splits_are_rows(node));
    out.in_order &= !facts.mixed && !may_reorder(node, options_);
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

} // namespace headrace::detail
