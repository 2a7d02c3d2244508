#include "headrace/actors/dispatcher/service_record.hpp"

#include <algorithm>

namespace headrace {

size_t service_record::bytes_of(const fact& what) {
  const auto* dataset = std::get_if<dataset_registered>(&what);
  return sizeof(fact) + (dataset ? dataset->what.graph.size() + dataset->what.spec.size() : 0);
}

bool service_record::may_join(job_id job, const std::string& dataset_id) const {
  const auto at = passing_.find(dataset_id);
  return at != passing_.end() && !at->second.contains(job);
}

void service_record::on(const dataset_registered& x) {
  if (!datasets_.add(x.id, x.what) || !x.for_iteration)
    return;
  passing_.try_emplace(x.id);
  unused_.push_back(x.id);
  while (unused_.size() > most_unused || (unused_.size() > 1 && unused_bytes() > most_unused_bytes))
    drop_oldest(unused_);
}

size_t service_record::unused_bytes() const {
  if (datasets_.bytes() <= most_unused_bytes)
    return 0;                             // few enough, whoever they are for
  std::map<std::string_view, size_t> ids; // by fingerprint: those that are unused
  for (const auto& id : unused_) ++ids[(*datasets_.find(id))->fingerprint];
  size_t out = 0;
  for (const auto& [fingerprint, unused] : ids)
    out += datasets_.bytes_for_ids(std::string{fingerprint}, unused);
  return out;
}

void service_record::on(const job_started& x) {
  // No key leads to a job that it is not the key of.
  if (const auto known = jobs_.find(x.what.id); known != jobs_.end())
    by_key_.erase(known->second.key);
  jobs_.insert_or_assign(x.what.id, x.what);
  by_key_[x.what.key] = x.what.id;
  use(x.what.dataset_id, x.what.id);
}

void service_record::on(const job_over& x) {
  const auto at = jobs_.find(x.id);
  if (at == jobs_.end())
    return;
  by_key_.erase(at->second.key);
  jobs_.erase(at);
  if (const auto used = used_by_.extract(x.id))
    for (const auto& id : used.mapped())
      if (auto& users = passing_.at(id); users.erase(x.id) != 0 && users.empty())
        left_over_.push_back(id);
  while (left_over_.size() > most_left_over || (left_over_.size() > 1 && datasets_.bytes() > roomy))
    drop_oldest(left_over_);
}

void service_record::use(const std::string& dataset_id, job_id by) {
  const auto at = passing_.find(dataset_id);
  if (at == passing_.end())
    return;
  if (at->second.empty()) {
    std::erase(unused_, dataset_id);
    std::erase(left_over_, dataset_id);
  }
  at->second.insert(by);
  used_by_[by].insert(dataset_id);
}

void service_record::drop_oldest(std::deque<std::string>& from) {
  datasets_.remove(from.front());
  passing_.erase(from.front());
  from.pop_front();
}

} // namespace headrace
