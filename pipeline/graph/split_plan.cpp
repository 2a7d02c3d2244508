#include "headrace/pipeline/graph/split_plan.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"

#include <unordered_map>
#include <unordered_set>

namespace headrace::detail {

namespace {

class planner {
public:
  split_plan plan(const dataset_node& graph) {
    out_.infinite = graph.cardinality == infinite_cardinality;
    visit(graph, 1, false);
    // Groups are numbered in the order of their first sources.
    std::unordered_map<uint32_t, uint32_t> numbers;
    for (auto& source : out_.sources) {
      auto [at, fresh] = numbers.try_emplace(source.group, static_cast<uint32_t>(numbers.size()));
      source.group = at->second;
    }
    out_.groups = static_cast<uint32_t>(numbers.size());
    return std::move(out_);
  }

private:
  uint32_t new_group() { return next_group_++; }

  void visit_source(const dataset_node& node, std::optional<int64_t> passes, bool aligned) {
    // Under a zip, sources have a group in common only if their splits are rows: a split that is a
    // file has any number of rows, so split i of one source would not match split i of another.
    const auto count = record_of(node).source.splits;
    const auto splits = count ? count(node) : std::nullopt;
    const auto group = aligned && splits_are_rows(node) ? current_group_ : new_group();
    out_.sources.push_back({node.op, splits, passes, group, zips_ != 0, behind_, caches_ != 0});
  }

  void visit(const dataset_node& node, std::optional<int64_t> passes, bool aligned) {
    if (is_source(node.op))
      return visit_source(node, passes, aligned);
    if (node.op == dataset_op::distribute)
      return; // another job leases the splits of the sources below this node
    const auto count = passes_over_input(node);
    if ((count && *count < 0) || (passes && *passes < 0))
      passes = passes == 0 || count == 0 ? 0 : -1;
    else if (!count || (passes && __builtin_mul_overflow(*passes, *count, &*passes)))
      passes = std::nullopt;
    const auto* cache = node.find<cache_parameters>();
    const bool keeps = cache && cache->folder.empty() && passes != 0 && passes != 1;
    if (cache && passes != 0)
      passes = std::nullopt; // the input is read again until a pass of it is kept
    const auto outer = current_group_;
    if (node.op == dataset_op::zip && !aligned) {
      current_group_ = new_group();
      aligned = true;
    } else if (!record_of(node).rows.one_to_one) {
      // One-to-one operators, such as map, keep row i at index i, also if it fails.
      aligned = false;
    }
    zips_ += node.op == dataset_op::zip;
    caches_ += keeps;
    for (size_t i = 0; i < node.inputs.size(); ++i)
      if (!is_whole(node, i)) {
        const auto before = node.op == dataset_op::zip ? static_cast<uint32_t>(i) : 0;
        behind_ += before;
        visit(*node.inputs[i], passes, aligned);
        behind_ -= before;
      }
    caches_ -= keeps;
    zips_ -= node.op == dataset_op::zip;
    current_group_ = outer;
  }

  split_plan out_;
  // The numbers of zips, and of caches whose later passes come from memory, above the visited node.
  int zips_ = 0, caches_ = 0;
  uint32_t behind_ = 0; // see `source_splits::behind`
  uint32_t next_group_ = 0;
  uint32_t current_group_ = 0;
};

} // namespace

bool splits_are_rows(const dataset_node& source) noexcept {
  const auto are_rows = record_of(source).source.splits_are_rows;
  return are_rows != nullptr && are_rows(source);
}

bool is_whole(const dataset_node& node, size_t index) noexcept {
  return record_of(node).whole_input == index;
}

split_plan plan_splits(const dataset_ptr& graph) {
  auto out = planner{}.plan(*graph);
  out.rows = split_rows_of(*graph);
  out.other_jobs = reads_service(*graph, false);
  return out;
}

namespace {

size_t count(const dataset_node& node, std::unordered_map<const dataset_node*, size_t>& known) {
  if (is_source(node.op))
    return 1;
  if (node.op == dataset_op::distribute)
    return 0;
  if (auto at = known.find(&node); at != known.end())
    return at->second;
  size_t n = 0;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!is_whole(node, i))
      n += count(*node.inputs[i], known);
  known.emplace(&node, n);
  return n;
}

} // namespace

namespace {

bool reads_service(const dataset_node& node, bool named,
                   std::unordered_set<const dataset_node*>& seen) {
  if (node.op == dataset_op::distribute)
    return !named || !node.as<service_options>().job_name.empty();
  if (!seen.insert(&node).second)
    return false;
  for (size_t i = 0; i < node.inputs.size(); ++i)
    if (!is_whole(node, i) && reads_service(*node.inputs[i], named, seen))
      return true;
  return false;
}

} // namespace

bool reads_service(const dataset_node& node, bool named) {
  std::unordered_set<const dataset_node*> seen;
  return reads_service(node, named, seen);
}

size_t count_sources(const dataset_node& graph) {
  std::unordered_map<const dataset_node*, size_t> known;
  return count(graph, known);
}

} // namespace headrace::detail
