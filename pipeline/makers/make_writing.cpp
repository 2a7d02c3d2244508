#include "headrace/pipeline/graph/rewrite.hpp"
#include "headrace/pipeline/makers/node_checks.hpp"

#include <fmt/format.h>

namespace headrace::detail {

result<dataset_ptr> make_write_tfrecord(dataset_ptr input, expr_ptr path, file_compression how) {
  constexpr auto op = dataset_op::write_tfrecord;
  HEADRACE_TRY(check_input(op, input));
  if (input->spec != element_spec{tensor_spec{dtype::string, {}}})
    return refused(
      op, fmt::format("the elements are {}; they must be string scalars", to_string(input->spec)));
  if (input->cardinality == infinite_cardinality)
    return refused(op, "the dataset never ends; take a part of it");
  HEADRACE_TRY(check_expr(op, path, "path"));
  if (path->spec != tensor_spec{dtype::string, {}})
    return refused(op,
                   fmt::format("path is {}; it must be a string scalar", to_string(path->spec)));
  auto node = node_of(op, {std::move(input)});
  node.tensors = {std::move(path)};
  node.parameters = file_parameters{how};
  node.spec = tensor_spec{dtype::int64, {}};
  node.cardinality = 1;
  return finish(std::move(node));
}

status check_writes_nothing(const dataset_ptr& graph) {
  const auto writes = [](const dataset_node& x) { return x.op == dataset_op::write_tfrecord; };
  return any_node(graph, writes)
           ? invalid_argument("the dataset writes TFRecord files (write_tfrecord, TFRecordWriter), "
                              "and workers of a service would write over each other's; write them "
                              "in the program that reads the elements")
           : status{};
}

} // namespace headrace::detail
