#include "headrace/pipeline/saving/piecewise.hpp"

#include "headrace/pipeline/graph/build.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace headrace {

namespace {

/// True if a dataset that a function makes reads from a named job, including functions inside it.
bool reads_named_job(const dataset_node& node) {
  if (node.op == dataset_op::distribute && !node.service.job_name.empty())
    return true;
  if (node.body && node.body->dataset && reads_named_job(*node.body->dataset))
    return true;
  return std::ranges::any_of(node.inputs,
                             [](const auto& input) { return reads_named_job(*input); });
}

class piece_finder {
public:
  explicit piece_finder(const split_plan& plan) : plan_(plan) {}

  piecewise find(const dataset_node& graph) {
    visit(graph, false);
    if (!out_.possible())
      out_.sources.clear();
    return std::move(out_);
  }

private:
  /// Returns true if the node's rows are aligned: row i descends from the splits [i * m, (i + 1) *
  /// m) of each source below it, where m is the `multiple` of these; the last row may have fewer.
  /// `repeated`: the node is read more than once.
  bool visit(const dataset_node& node, bool repeated) {
    // A generator without a known count runs anew for each piece, and may give other elements then.
    // This holds even if an operator beside it determines the number of rows.
    if (node.op == dataset_op::generator && node.count < 0)
      return whole(node, "says only at its end how many elements it has");
    if (is_source(node.op)) {
      out_.sources.push_back({splits_are_rows(node), 1});
      return out_.sources.back().rows;
    }
    // A job without a name is read by one element alone.
    if (node.body && node.body->dataset && reads_named_job(*node.body->dataset))
      return whole(node, "reads from another job, which gives its elements to one run");
    switch (node.op) {
    case dataset_op::map:
    case dataset_op::prefetch:
    case dataset_op::options:
    case dataset_op::sleep: return visit(*node.inputs[0], repeated);
    case dataset_op::filter:
    case dataset_op::flat_map:
    case dataset_op::interleave:
    case dataset_op::ignore_errors: visit(*node.inputs[0], repeated); return false;
    case dataset_op::shuffle:
      return whole(node,
                   "mixes the elements of all pieces; save what stands before it, and shuffle what "
                   "is loaded");
    case dataset_op::repeat:
      visit(*node.inputs[0], repeated || (node.count != 0 && node.count != 1));
      return false;
    case dataset_op::snapshot:
      return whole(node, "keeps elements in a folder, which takes one run of all of them");
    case dataset_op::cache: return cached(node, repeated);
    case dataset_op::sample_from:
      return whole(node,
                   "mixes the elements of all its inputs; save these, and mix what is loaded");
    case dataset_op::concatenate: return one_by_one(node, repeated);
    case dataset_op::zip: return side_by_side(node, repeated);
    case dataset_op::batch:
    case dataset_op::padded_batch:
    case dataset_op::ragged_batch: return batched(node, repeated);
    case dataset_op::distribute:
      return whole(node, "reads from another job, which gives its elements to one run");
    default:
      return whole(node, "looks at more than one element; save what stands before it, and put it "
                         "after load");
    }
  }

  bool cached(const dataset_node& node, bool repeated) {
    if (!node.text.empty())
      return whole(node, "keeps elements in a folder, which takes one run of all of them");
    // A node that is used twice is read again, as one that is repeated.
    if (repeated || !caches_.insert(&node).second)
      return whole(node, "is read again, which takes one run that has filled it");
    return visit(*node.inputs[0], repeated);
  }

  /// Visits inputs that are given one after another.
  bool one_by_one(const dataset_node& node, bool repeated) {
    for (const auto& input : node.inputs) visit(*input, repeated);
    return false;
  }

  bool side_by_side(const dataset_node& node, bool repeated) {
    const auto first = out_.sources.size();
    bool aligned = true;
    for (const auto& input : node.inputs) aligned &= visit(*input, repeated);
    if (!out_.possible())
      return false;
    // Only sources of one group are given the same splits.
    for (auto i = first; i < out_.sources.size(); ++i)
      aligned &= plan_.sources[i].group == plan_.sources[first].group;
    return aligned
           || whole(node, "pairs elements by their places, which are known only when all are read");
  }

  bool batched(const dataset_node& node, bool repeated) {
    const auto first = out_.sources.size();
    bool fits = visit(*node.inputs[0], repeated);
    for (auto i = first; i < out_.sources.size(); ++i) {
      auto& multiple = out_.sources[i].multiple;
      fits &= !__builtin_mul_overflow(multiple, static_cast<uint64_t>(node.count), &multiple);
    }
    return fits
           || whole(node, "takes elements together that may be of several pieces; save what stands "
                          "before it, and batch what is loaded");
  }

  /// Keeps only the first reason.
  bool whole(const dataset_node& node, std::string_view why) {
    if (out_.possible())
      out_.whole_because = fmt::format("{} {}", to_string(node.op), why);
    return false;
  }

  const split_plan& plan_;
  piecewise out_;
  std::unordered_set<const dataset_node*> caches_; ///< that were visited
};

} // namespace

piecewise piecewise_of(const dataset_ptr& graph) {
  const auto plan = plan_splits(graph);
  return piece_finder{plan}.find(*graph);
}

} // namespace headrace
