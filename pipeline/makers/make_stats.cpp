#include "headrace/pipeline/makers/node_checks.hpp"

namespace headrace::detail {

result<dataset_ptr> make_stats(dataset_ptr input, std::string tag, bool bytes) {
  constexpr auto op = dataset_op::stats;
  HEADRACE_TRY(check_input(op, input));
  if (tag.empty())
    return refused(op, "tag is empty; it must name what is measured");
  auto node = node_of(op, {input});
  node.spec = input->spec;
  node.cardinality = input->cardinality;
  node.parameters = stats_parameters{std::move(tag), bytes};
  return finish(std::move(node));
}

} // namespace headrace::detail
