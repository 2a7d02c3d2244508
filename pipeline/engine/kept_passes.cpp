#include "headrace/pipeline/engine/engine.hpp"

#include <algorithm>

// The passes that the caches in memory of one run return. A process that restores a run has nothing
// in memory, but its caches must return the same passes.

namespace headrace::detail {

const std::vector<std::shared_ptr<memory_cache>>& engine::caches_from(const dataset_node& node,
                                                                      bool whole) {
  const std::pair key{&node, whole};
  if (const auto known = caches_.find(key); known != caches_.end())
    return known->second;
  std::vector<std::shared_ptr<memory_cache>> out;
  if (auto memory = memory_of(node, {.whole = whole}))
    out.push_back(std::move(memory));
  // Operators below a `distribute` run in other processes.
  for (size_t i = 0; i < node.inputs.size() && node.op != dataset_op::distribute; ++i)
    for (const auto& cache : caches_from(*node.inputs[i], whole || is_whole(node, i)))
      if (std::ranges::find(out, cache) == out.end())
        out.push_back(cache);
  return caches_.emplace(key, std::move(out)).first->second;
}

std::vector<std::shared_ptr<memory_cache>> engine::caches_below(const dataset_node& node,
                                                                const place& at, size_t index) {
  if (at.in_function())
    return {};
  std::lock_guard lock{mutex_};
  return caches_from(*node.inputs[index], at.whole || is_whole(node, index));
}

std::optional<kept_pass> engine::pass_of(const memory_cache& cache) {
  {
    std::lock_guard lock{mutex_};
    if (const auto known = passes_of_.find(&cache); known != passes_of_.end())
      return known->second;
  }
  const auto whole = cache.whole();
  return whole ? std::optional<kept_pass>{*whole} : std::nullopt;
}

void engine::set_pass_of(const memory_cache& cache, std::optional<kept_pass> pass) {
  std::lock_guard lock{mutex_};
  passes_of_.erase(&cache);
  if (pass)
    passes_of_.emplace(&cache, *std::move(pass));
}

} // namespace headrace::detail
