#pragma once

#include "tests/actors/stream/stream_world.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

/// What must hold of a world whose tasks have windows. Each judgement is empty if all is well.
namespace headrace::test {

inline int64_t task_of(int64_t value) { return value / 1'000'000'000; }

/// What each trainer was given of each task, by those of its consumers that are gone, as far as
/// they said so, and by the one that is there.
inline std::map<std::pair<std::string, int64_t>, std::vector<int64_t>>
deliveries(const stream_world& w) {
  std::map<std::pair<std::string, int64_t>, std::vector<int64_t>> out;
  for (const auto& [trainer, all] : w.gone_handed_out)
    for (auto x : all) out[{trainer, task_of(x)}].push_back(x);
  for (const auto& [id, c] : w.consumers)
    for (const auto& [t, p] : c.pipes)
      for (auto x : p.handed_out) out[{c.trainer, static_cast<int64_t>(t)}].push_back(x);
  return out;
}

/// Judges a world in which each trainer has at most one consumer at a time. Empty: all is well.
inline std::string rising_fault(const stream_world& w) {
  for (const auto& [whose, all] : deliveries(w))
    for (size_t i = 1; i < all.size(); ++i)
      if (all[i] <= all[i - 1])
        return fmt::format("trainer {} was given {} after {}", whose.first, all[i], all[i - 1]);
  return {};
}

inline std::string budget_fault(size_t bytes, size_t budget) {
  return bytes <= budget ? "" : fmt::format("{} bytes of {}", bytes, budget);
}
inline std::string budget_fault(const stream_world& w) {
  return budget_fault(w.windows->bytes(), w.windows->budget());
}

/// What a trainer was given, as far as its task knows it, what it skipped and what it lags behind
/// are together all that was made since it came.
inline std::string count_fault(const stream_world& w) {
  std::map<std::pair<std::string, size_t>, size_t> given;
  for (const auto& [trainer, all] : w.gone_handed_out)
    for (auto x : all) ++given[{trainer, static_cast<size_t>(task_of(x))}];
  for (const auto& [id, c] : w.consumers)
    for (const auto& [t, p] : c.pipes) given[{c.trainer, t}] += p.known_handed_out;
  for (size_t t = 0; t < w.tasks.size(); ++t) {
    const auto window = w.tasks[t].core->numbers().window;
    if (!window || w.tasks[t].lost)
      continue;
    for (const auto& x : window->trainers) {
      const auto began = w.tasks[t].began.at(x.id);
      const auto passed = given[{x.id, t}] + x.skipped;
      if (began + passed + x.lag != window->end)
        return fmt::format("trainer {} began at {} of task {}, was given {}, skipped {}, and lags "
                           "{} behind {}",
                           x.id, began, t, given[{x.id, t}], x.skipped, x.lag, window->end);
    }
  }
  return {};
}

} // namespace headrace::test
