#pragma once

#include "tests/actors/stream/stream_world.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

/// The rules for a world whose tasks have windows. A function whose name ends in `fault` checks one
/// rule, and returns a text if it is violated, else an empty text.
namespace headrace::detail::test {

inline int64_t task_of(int64_t value) { return value / 1'000'000'000; }

/// The elements of each task that were handed out to each trainer: by the trainer's present
/// consumers, and by consumers that are gone, of which only the reported elements count.
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

/// Each trainer must be given the elements of a task in rising order. The rule holds only in worlds
/// in which a trainer has at most one consumer at a time.
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

/// For each trainer of a window, three numbers must add up to the number of elements that the task
/// made since the trainer joined: the elements that were reported to the task as handed out to the
/// trainer, those that the trainer skipped, and those that it still has to take (its lag).
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

} // namespace headrace::detail::test
