#include "graph_order.hpp"

#include "headrace/pipeline/functions/row_seeds.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/graph/row_order.hpp"

#include <algorithm>

namespace headrace::python {

namespace {

bool draws_order(const dataset_node& x) {
  if (given_seed(x))
    return false;
  switch (x.op) {
  case dataset_op::list_files: return x.as<list_files_parameters>().shuffle;
  case dataset_op::random:
  case dataset_op::global_shuffle:
  case dataset_op::shuffle:
  case dataset_op::sample_from: return true;
  case dataset_op::filter:
  case dataset_op::take_while: return x.body && wants_row_seeds(*x.body);
  default: return false;
  }
}

void look(const dataset_node& x, const graph_options& options, bool in_function, order_facts& out) {
  if (out.drawn.empty() && draws_order(x))
    out.drawn = to_string(x.op);
  if (out.reorders.empty() && may_reorder(x, options, in_function))
    out.reorders = to_string(x.op);
  if (x.op == dataset_op::distribute) {
    out.service = true;
    return;
  }
  for (const auto& input : x.inputs) look(*input, options, in_function, out);
  if (x.body && x.body->dataset)
    look(*x.body->dataset, options, true, out);
}

} // namespace

bool reads_shared_job(const dataset_node& x) {
  if (x.op == dataset_op::distribute)
    return !x.as<service_options>().job_name.empty();
  return !x.inputs.empty() && std::all_of(x.inputs.begin(), x.inputs.end(), [](const auto& input) {
    return reads_shared_job(*input);
  });
}

order_facts order_of(const dataset_node& x) {
  order_facts out;
  look(x, options_of(x), false, out);
  return out;
}

} // namespace headrace::python
