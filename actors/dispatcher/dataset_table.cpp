#include "headrace/actors/dispatcher/dataset_table.hpp"

#include <fmt/format.h>

namespace headrace::detail {

result<std::string> dataset_table::id_for(std::string id, const dataset_record& what) const {
  if (id.empty()) {
    auto last = last_;
    do id = std::to_string(++last);
    while (ids_.contains(id));
    return id;
  }
  if (auto taken = ids_.find(id); taken != ids_.end() && taken->second != what.fingerprint)
    return already_exists(fmt::format("dataset id '{}' is taken by another graph; choose another "
                                      "id, or register the same graph",
                                      id));
  return id;
}

bool dataset_table::add(const std::string& id, dataset_record what) {
  if (!ids_.try_emplace(id, what.fingerprint).second)
    return false;
  // `id_for` chooses the first free id after `last_`. So `last_` is advanced past the ids in use,
  // and no id is chosen again after its removal.
  while (ids_.contains(std::to_string(last_ + 1))) ++last_;
  const auto size = what.graph.size();
  auto key = what.fingerprint;
  const auto [at, fresh] = by_fingerprint_.try_emplace(std::move(key), kept{std::move(what)});
  if (fresh)
    bytes_ += size;
  ++at->second.ids;
  return true;
}

void dataset_table::remove(const std::string& id) {
  const auto at = ids_.find(id);
  if (at == ids_.end())
    return;
  const auto graph = by_fingerprint_.find(at->second);
  ids_.erase(at);
  if (--graph->second.ids != 0)
    return;
  bytes_ -= graph->second.what.graph.size();
  by_fingerprint_.erase(graph);
}

const dataset_record* dataset_table::with_fingerprint(const std::string& fingerprint) const {
  const auto at = by_fingerprint_.find(fingerprint);
  return at == by_fingerprint_.end() ? nullptr : &at->second.what;
}

size_t dataset_table::bytes_for_ids(const std::string& fingerprint, size_t ids) const {
  const auto at = by_fingerprint_.find(fingerprint);
  return at != by_fingerprint_.end() && at->second.ids == ids ? at->second.what.graph.size() : 0;
}

result<const dataset_record*> dataset_table::find(const std::string& id) const {
  auto at = ids_.find(id);
  if (at == ids_.end())
    return not_found(fmt::format(
      "no dataset has the id '{}', and {} are registered with this dispatcher; an id that "
      "register_dataset returned would be right",
      id, ids_.size()));
  return &by_fingerprint_.at(at->second).what;
}

} // namespace headrace::detail
