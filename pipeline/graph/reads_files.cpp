#include "headrace/pipeline/graph/reads_files.hpp"

#include "headrace/pipeline/graph/rewrite.hpp"

namespace headrace {

bool reads_named_files(dataset_op op) noexcept {
  switch (op) {
  case dataset_op::text_lines:
  case dataset_op::tfrecord:
  case dataset_op::csv:
  case dataset_op::json_lines:
  case dataset_op::tar_samples:
  case dataset_op::fixed_length: return true;
  default: return false;
  }
}

bool reads_files(const dataset_ptr& graph) {
  return any_node(graph, [](const dataset_node& x) {
    return reads_named_files(x.op) || x.op == dataset_op::list_files || x.op == dataset_op::load
           || x.op == dataset_op::sql;
  });
}

} // namespace headrace
