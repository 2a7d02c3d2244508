#pragma once

#include "tests/actors/sharing/shared_graph.hpp"
#include "tests/actors/sharing/shared_run.hpp"

#include <fmt/format.h>

namespace headrace::detail::test::sharing {

/// A text about the first rule of sharing that the output of tasks violates; empty: none.
///
/// Each task gives, in order, the elements of the splits that it was given. It reads all choices of
/// each `choose_from`, has its own caches, and its datasets without end do not end. A task that
/// died gives only the beginning of these elements.
///
/// In each pass a split belongs to at most one task; `shared_run` checks this. If a task was sent
/// the end of a pass, each split of the pass belongs to a task; splits that were given back are
/// excepted if operators can leave a pass before it is over. If no operator can do so, the rule
/// holds for all passes, even if no task was sent their ends.
inline std::string what_is_wrong(const shared_graph& graph,
                                 const std::map<task_id, shared_run::task>& tasks,
                                 const shared_run::places& leased,
                                 const shared_run::places& returned) {
  using fate = shared_run::task::fate;
  for (const auto& [id, task] : tasks) {
    auto given = task.given;
    given.rewind();
    auto rows = graph.open(given);
    for (size_t i = 0; i < task.rows.size(); ++i) {
      const auto want = rows.next();
      if (!want)
        return fmt::format("task {} gave more than the {} elements of its splits: {}", id.value, i,
                           task.rows[i]);
      if (want->text() != task.rows[i])
        return fmt::format("task {} gave {} as element {}; it must be {}", id.value, task.rows[i],
                           i, want->text());
    }
    if (task.how == fate::died || task.how == fate::runs)
      continue;
    if (const auto want = rows.next())
      return fmt::format("task {} ended after {} elements; {} is missing", id.value,
                         task.rows.size(), want->text());
    if (task.how == fate::ended && given.starved())
      return fmt::format("task {} ended after {} elements, and what it reads never ends", id.value,
                         task.rows.size());
  }
  const bool closes = may_close(*graph.graph);
  const auto plan = plan_splits(graph.graph);
  const auto has = [](const shared_run::places& in, uint32_t source, uint64_t pass,
                      uint64_t split) {
    const auto at = in.find({source, pass});
    return at != in.end() && at->second.contains(split);
  };
  // If a task was leased a split of one source, the split belongs to this task for all sources that
  // advance together with that source, even if the task died before these sources requested it.
  const auto given = [&](uint32_t source, uint64_t pass, uint64_t split) {
    for (uint32_t other = 0; other < plan.sources.size(); ++other)
      if (plan.sources[other].group == plan.sources[source].group
          && has(leased, other, pass, split))
        return true;
    return false;
  };
  for (const auto& source : graph.sources) {
    // When the shortest of the sources that advance together ends, all of them end.
    auto splits = source->splits;
    for (const auto& other : graph.sources)
      if (plan.sources[other->number].group == plan.sources[source->number].group)
        splits = std::min(splits, other->splits);
    std::set<uint64_t> whole; // the passes of which some task was sent the end
    for (const auto& [id, task] : tasks)
      for (uint64_t pass = 0; pass <= task.given.last_pass(source->number); ++pass)
        if (task.given.over(source->number, pass))
          whole.insert(pass);
    if (const auto passes = plan.sources[source->number].passes; !closes)
      for (int64_t pass = 0; pass < passes.value_or(0); ++pass)
        whole.insert(static_cast<uint64_t>(pass));
    for (auto pass : whole)
      for (uint64_t i = 0; i < splits; ++i)
        if (!given(source->number, pass, i) && !(closes && has(returned, source->number, pass, i)))
          return fmt::format("split {} of source {}, pass {}, was read by nobody", i,
                             source->number, pass);
  }
  return {};
}

} // namespace headrace::detail::test::sharing
