#include "headrace/pipeline/explain/operator_table.hpp"

#include "headrace/pipeline/graph/operator_record.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <utility>

namespace headrace::detail {

operator_table::operator_table(dataset_ptr graph) : graph_(std::move(graph)) {
  add(*graph_, nullptr, 0, SIZE_MAX);
}

std::string operator_table::name_of(const dataset_node& node) {
  const auto& record = record_of(node);
  const auto shown = record.shown ? record.shown(node) : std::string{};
  return shown.empty() ? std::string{record.name} : fmt::format("{}({})", record.name, shown);
}

op_counters* operator_table::counters(const dataset_node& node) {
  const auto at = numbers_.find(&node);
  return at == numbers_.end() ? nullptr : &entries_[at->second]->counted;
}

void operator_table::add(const dataset_node& node, op_counters* user, size_t depth, size_t caller) {
  if (node.op == dataset_op::options)
    // The node has no iterator of its own: its input runs in its place.
    return add(*node.inputs[0], user, depth, caller);
  if (numbers_.contains(&node))
    return;
  const auto number = entries_.size();
  numbers_.emplace(&node, number);
  auto& made = *entries_.emplace_back(std::make_unique<entry>());
  made.node = &node;
  made.name = name_of(node);
  made.depth = depth;
  made.caller = caller;
  auto* counted = &made.counted;
  counted->user = user;
  if (node.body && node.body->dataset)
    add(*node.body->dataset, counted, depth + 1, number);
  if (node.op == dataset_op::distribute)
    return; // the inputs run in other processes
  for (const auto& input : node.inputs) add(*input, counted, depth + 1, caller);
}

namespace {

/// Adds the times until `now` of a call that has not returned.
void add_under_way(operator_totals& to, const op_counters& c, int64_t now) {
  const auto since = [now](int64_t began) {
    return began == 0 || began > now ? uint64_t{0} : static_cast<uint64_t>(now - began);
  };
  to.time_ns += since(c.since_ns);
  if (const auto waited = since(c.waits.since_ns); waited != 0)
    (c.waits.for_lease ? to.lease_ns : to.storage_ns) += waited;
}

} // namespace

std::vector<operator_totals> operator_table::read() const {
  const auto now = clock::system().now().time_since_epoch().count();
  std::vector<operator_totals> out;
  out.reserve(entries_.size());
  for (const auto& one : entries_) {
    const auto& c = one->counted;
    out.push_back({.rows = c.rows,
                   .blocks = c.blocks,
                   .bytes = c.bytes,
                   .kernel_calls = c.kernel_calls,
                   .time_ns = c.time_ns,
                   .below_ns = c.below_ns,
                   .work_ns = c.work_ns,
                   .lease_ns = c.lease_ns,
                   .storage_ns = c.storage_ns,
                   .memory_ns = c.memory_ns,
                   .samples = c.samples,
                   .queued = c.queued,
                   .calls = c.calls,
                   .ignored = c.ignored});
    add_under_way(out.back(), c, now);
  }
  // While a call of an operator's `next` waits for a call of `next` of an operator below, on the
  // same thread, the time of the inner call until now is added to `below_ns` of the outer operator.
  for (size_t i = 0; i < entries_.size(); ++i) {
    const auto& c = entries_[i]->counted;
    const int64_t began = c.since_ns;
    const auto* user = c.user;
    if (began == 0 || began > now || user == nullptr || user->since_ns == 0
        || user->thread.load() != c.thread.load())
      continue;
    for (size_t k = 0; k < i; ++k)
      if (&entries_[k]->counted == user)
        out[k].below_ns += static_cast<uint64_t>(now - began);
  }
  return out;
}

bool works_on_threads(const dataset_node& node, uint64_t samples) noexcept {
  return samples != 0 || (node.op == dataset_op::interleave && node.calls.count != 0);
}

} // namespace headrace::detail
