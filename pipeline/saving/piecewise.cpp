#include "headrace/pipeline/saving/piecewise.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"
#include "headrace/pipeline/graph/split_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace headrace::detail {

namespace {

/// `node`: a dataset that a function makes. True if the dataset, or a function in it, reads from a
/// named job.
bool reads_named_job(const dataset_node& node) {
  if (node.op == dataset_op::distribute && !node.as<service_options>().job_name.empty())
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
  /// m) of each source below the node, where m is the source's `multiple`; the last row may descend
  /// from fewer.
  /// `repeated`: the node's rows are read more than once.
  bool visit(const dataset_node& node, bool repeated) {
    const auto& facts = record_of(node).pieces;
    if (facts.not_in_pieces)
      if (const auto why = facts.not_in_pieces(node); !why.empty())
        return whole(node, why);
    if (is_source(node.op)) {
      out_.sources.push_back({splits_are_rows(node), 1});
      return out_.sources.back().rows;
    }
    // Anonymous jobs that a function reads do not count: each is read for one element only.
    if (node.body && node.body->dataset && reads_named_job(*node.body->dataset))
      return whole(node, "reads from another job, which gives its elements to one run");
    switch (facts.rule) {
    case piece_rule::aligned: return visit(*node.inputs[0], repeated);
    case piece_rule::apart: {
      const auto passes = passes_over_input(node);
      repeated |= passes != 0 && passes != 1;
      for (const auto& input : node.inputs) visit(*input, repeated);
      return false;
    }
    case piece_rule::side_by_side: return side_by_side(node, repeated);
    case piece_rule::together: return together(node, repeated);
    case piece_rule::kept: return kept(node, repeated);
    case piece_rule::whole: break;
    }
    return whole(node, facts.why);
  }

  bool kept(const dataset_node& node, bool repeated) {
    // A cache that occurs twice in the graph is read again, like one below a `repeat`.
    if (repeated || !caches_.insert(&node).second)
      return whole(node, "is read again, which takes one run that has filled it");
    return visit(*node.inputs[0], repeated);
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
    return aligned || whole(node, record_of(node).pieces.why);
  }

  bool together(const dataset_node& node, bool repeated) {
    const auto& facts = record_of(node).pieces;
    const auto rows = static_cast<uint64_t>(facts.rows_together(node));
    const auto first = out_.sources.size();
    bool fits = visit(*node.inputs[0], repeated) && rows != 0;
    for (auto i = first; i < out_.sources.size(); ++i) {
      auto& multiple = out_.sources[i].multiple;
      fits &= !__builtin_mul_overflow(multiple, rows, &multiple);
    }
    return fits || whole(node, facts.why);
  }

  /// Records the reason, unless an earlier one is recorded. Returns false.
  bool whole(const dataset_node& node, std::string_view why) {
    if (out_.possible())
      out_.whole_because = fmt::format("{} {}", to_string(node.op), why);
    return false;
  }

  const split_plan& plan_;
  piecewise out_;
  std::unordered_set<const dataset_node*> caches_; ///< the caches that were visited
};

} // namespace

piecewise piecewise_of(const dataset_ptr& graph) {
  const auto plan = plan_splits(graph);
  return piece_finder{plan}.find(*graph);
}

} // namespace headrace::detail
