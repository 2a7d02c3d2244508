#include "headrace/pipeline/engine/engine.hpp"
#include "headrace/pipeline/storage/memory_cache.hpp"

#include <algorithm>

// The state of a run whose sources share their splits with other runs.

namespace headrace::detail {

uint64_t engine::begin_shared_pass(uint32_t source, uint64_t pass) {
  std::lock_guard lock{mutex_};
  auto& known = shared_[source];
  ++known.begun;
  return std::max(pass, known.from);
}

bool engine::skip_to_pass(uint32_t source, uint64_t pass) {
  std::lock_guard lock{mutex_};
  if (source >= plan_.sources.size() || !plan_.sources[source].passes)
    return false;
  for (uint32_t other = 0; other < plan_.sources.size(); ++other)
    if (plan_.sources[other].group == plan_.sources[source].group) {
      shared_[other].from = std::max(shared_[other].from, pass);
      passes_[other] = std::max(passes_[other], pass + 1);
    }
  return true;
}

void engine::end_shared_pass(uint32_t source, bool alone) {
  std::lock_guard lock{mutex_};
  shared_[source].whole += alone;
}

uint64_t engine::partial_passes(uint32_t first_source, size_t sources) {
  std::lock_guard lock{mutex_};
  uint64_t out = 0;
  for (auto source = first_source; source < first_source + sources; ++source)
    if (auto at = shared_.find(source); at != shared_.end())
      out += at->second.begun - at->second.whole;
  return out;
}

result<split_answer> engine::next_splits(uint32_t source, uint64_t pass, uint64_t total,
                                         const std::shared_ptr<const split_listing>& listing) {
  // A run that begins late starts with the present pass of the source, not with pass 0, so it may
  // come to passes after the last pass of the source. Such passes are over at once.
  if (source < plan_.sources.size())
    if (const auto passes = plan_.sources[source].passes;
        passes && *passes >= 0 && pass >= static_cast<uint64_t>(*passes))
      return split_answer{pass_over{.alone = true}};
  return context_.splits->next(source, pass, total, listing);
}

void engine::close_splits(uint32_t source, uint64_t pass, split_range unread) {
  context_.splits->close(source, pass, unread);
}

std::shared_ptr<memory_cache> engine::memory_of(const dataset_node& node, const place& at) const {
  const auto* cache = node.find<cache_parameters>();
  if (!cache || !cache->memory)
    return nullptr;
  return context_.caches ? context_.caches->of(node, at.whole) : cache->memory;
}

} // namespace headrace::detail
