#include "headrace/actors/dispatcher/dataset_table.hpp"

#include <fmt/format.h>

namespace headrace {

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

void dataset_table::add(const std::string& id, dataset_record what) {
  // The next id is looked for from here.
  if (id == std::to_string(last_ + 1))
    ++last_;
  ids_[id] = what.fingerprint;
  auto key = what.fingerprint;
  by_fingerprint_.try_emplace(std::move(key), std::move(what));
}

const dataset_record* dataset_table::with_fingerprint(const std::string& fingerprint) const {
  const auto at = by_fingerprint_.find(fingerprint);
  return at == by_fingerprint_.end() ? nullptr : &at->second;
}

result<const dataset_record*> dataset_table::find(const std::string& id) const {
  auto at = ids_.find(id);
  if (at == ids_.end())
    return not_found(fmt::format(
      "no dataset has the id '{}'; {} are registered with this dispatcher", id, ids_.size()));
  return &by_fingerprint_.at(at->second);
}

} // namespace headrace
