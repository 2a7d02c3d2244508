#include "headrace/pipeline/saving/piecewise.hpp"

#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"

#include <fmt/format.h>

#include <numeric>

namespace headrace {

namespace {

/// What is known of the rows below a node.
struct rows_below {
  std::string whole_because;
  uint64_t multiple = 1;
  /// Row i descends from the splits [i * multiple, (i + 1) * multiple), of which the last row may
  /// have fewer.
  bool aligned = false;
};

rows_below whole(const dataset_node& node, std::string_view why) {
  return {fmt::format("{} {}", to_string(node.op), why)};
}

rows_below look_at(const dataset_node& node, bool repeated);

/// Of inputs that are given one after another, or mixed.
rows_below united(const dataset_node& node, bool repeated) {
  rows_below out;
  for (const auto& input : node.inputs) {
    auto one = look_at(*input, repeated);
    if (!one.whole_because.empty())
      return one;
    out.multiple = std::lcm(out.multiple, one.multiple);
  }
  return out;
}

rows_below side_by_side(const dataset_node& node, bool repeated) {
  rows_below out;
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    auto one = look_at(*node.inputs[i], repeated);
    if (!one.whole_because.empty())
      return one;
    if (!one.aligned || one.multiple != 1)
      return whole(node, "pairs elements by their places, which are known only when all are read");
    out = one;
  }
  return out;
}

rows_below batched(const dataset_node& node, bool repeated) {
  auto out = look_at(*node.inputs[0], repeated);
  if (!out.whole_because.empty())
    return out;
  uint64_t multiple = 0;
  if (!out.aligned
      || __builtin_mul_overflow(out.multiple, static_cast<uint64_t>(node.count), &multiple))
    return whole(node,
                 "takes elements together that may be of several pieces; save what stands before "
                 "it, and batch what is loaded");
  out.multiple = multiple;
  return out;
}

rows_below look_at(const dataset_node& node, bool repeated) {
  if (is_source(node.op))
    return {{}, 1, splits_are_rows(node)};
  const auto of_input = [&](bool aligned) {
    auto out = look_at(*node.inputs[0], repeated);
    out.aligned &= aligned;
    return out;
  };
  switch (node.op) {
  case dataset_op::map:
  case dataset_op::prefetch:
  case dataset_op::options:
  case dataset_op::sleep: return of_input(true);
  case dataset_op::filter:
  case dataset_op::flat_map:
  case dataset_op::interleave:
  case dataset_op::ignore_errors:
  case dataset_op::shuffle: {
    auto out = of_input(false);
    // A batch that comes later than these is refused; one that comes before them keeps its borders.
    return out;
  }
  case dataset_op::repeat: {
    auto out = look_at(*node.inputs[0], repeated || (node.count != 0 && node.count != 1));
    out.aligned = false;
    return out;
  }
  case dataset_op::cache:
    if (!node.text.empty())
      return whole(node, "keeps elements in a folder, which takes one run of all of them");
    return repeated ? whole(node, "is read again, which takes one run that has filled it")
                    : of_input(true);
  case dataset_op::concatenate: return united(node, repeated);
  case dataset_op::sample_from:
    return node.flag ? whole(node, "ends with the first of its inputs") : united(node, repeated);
  case dataset_op::zip: return side_by_side(node, repeated);
  case dataset_op::batch:
  case dataset_op::padded_batch:
  case dataset_op::ragged_batch: return batched(node, repeated);
  case dataset_op::distribute:
    return whole(node, "reads from another job, which gives its elements to one run");
  default:
    return whole(
      node, "looks at more than one element; save what stands before it, and put it after load");
  }
}

} // namespace

piecewise piecewise_of(const dataset_node& graph) {
  auto out = look_at(graph, false);
  return {std::move(out.whole_because), out.multiple};
}

} // namespace headrace
