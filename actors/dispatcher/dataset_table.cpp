#include "headrace/actors/dispatcher/dataset_table.hpp"

#include <fmt/format.h>

namespace headrace {

result<std::string> dataset_table::add(std::string id, dataset_record what) {
  if (id.empty()) {
    do id = std::to_string(++last_);
    while (ids_.contains(id));
  } else if (auto taken = ids_.find(id); taken != ids_.end() && taken->second != what.fingerprint) {
    return already_exists(fmt::format(
      "dataset id '{}' is taken by another graph; choose another id, or register the same graph",
      id));
  }
  ids_[id] = what.fingerprint;
  auto key = what.fingerprint;
  by_fingerprint_.try_emplace(std::move(key), std::move(what));
  return id;
}

result<const dataset_record*> dataset_table::find(const std::string& id) const {
  auto at = ids_.find(id);
  if (at == ids_.end())
    return not_found(fmt::format(
      "no dataset has the id '{}'; {} are registered with this dispatcher", id, ids_.size()));
  return &by_fingerprint_.at(at->second);
}

} // namespace headrace
