#include "headrace/actors/dispatcher/service_record.hpp"

#include "headrace/pipeline/graph_codec/graph_codec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::detail {

size_t service_record::bytes_of(const fact& what) {
  const auto* dataset = std::get_if<dataset_registered>(&what);
  return sizeof(fact) + (dataset ? dataset->what.graph.size() + dataset->what.spec.size() : 0);
}

status service_record::has_room_for(const dataset_registration& what) const {
  if (!what.id.empty() && datasets_.find(what.id))
    return {};
  if (registered() >= most_registered)
    return resource_exhausted(fmt::format("{} datasets are registered, and no more are kept; read "
                                          "what is registered, by its id",
                                          registered()));
  if (datasets_.bytes() + what.graph.size() > most_registered_bytes)
    return resource_exhausted(fmt::format(
      "the graphs of registered datasets take {} bytes, and with this one of {} more than {}; "
      "read large data from files, and not from the graph",
      datasets_.bytes(), what.graph.size(), most_registered_bytes));
  return {};
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
    return 0;                             // even all graphs together are within the bound
  std::map<std::string_view, size_t> ids; // by fingerprint: the number of unused ids
  for (const auto& id : unused_) ++ids[(*datasets_.find(id))->fingerprint];
  size_t out = 0;
  for (const auto& [fingerprint, unused] : ids)
    out += datasets_.bytes_for_ids(std::string{fingerprint}, unused);
  return out;
}

service_record::key_hash service_record::hash_of(const std::string& key) {
  const auto digest = fingerprint(buffer::copy_of(key.data(), key.size())); // hexadecimal
  const auto half = [&](size_t at) { return std::stoull(digest.substr(at, 16), nullptr, 16); };
  return {half(0), half(16)};
}

const service_record::ended_job* service_record::ended(const std::string& key) const {
  const auto at = ended_.find(hash_of(key));
  return at != ended_.end() ? &at->second.what : nullptr;
}

void service_record::keep_ended(const key_hash& key, ended_job what) {
  forget_ended(key);
  const auto number = ended_in_order_.empty() ? 0 : ended_in_order_.rbegin()->first + 1;
  ended_.insert_or_assign(key, kept_end{std::move(what), number});
  ended_in_order_.emplace(number, key);
  if (ended_.size() > most_ended)
    forget_ended(ended_in_order_.begin()->second);
}

void service_record::forget_ended(const key_hash& key) {
  const auto at = ended_.find(key);
  if (at == ended_.end())
    return;
  ended_in_order_.erase(at->second.number);
  ended_.erase(at);
}

bool operator==(const service_record& a, const service_record& b) {
  // Only the order of the ends is compared, not their numbers.
  const auto same_ends = [&] {
    return std::ranges::equal(
      a.ended_in_order_, b.ended_in_order_, [&](const auto& x, const auto& y) {
        return x.second == y.second && a.ended_.at(x.second).what == b.ended_.at(y.second).what;
      });
  };
  return a.datasets_ == b.datasets_ && a.jobs_ == b.jobs_ && a.by_key_ == b.by_key_
         && a.passing_ == b.passing_ && a.used_by_ == b.used_by_ && a.unused_ == b.unused_
         && a.left_over_ == b.left_over_ && a.last_worker_ == b.last_worker_
         && a.places_ == b.places_ && a.draining_ == b.draining_ && a.collected_ == b.collected_
         && a.saves_ == b.saves_ && a.ended_saves_ == b.ended_saves_ && same_ends();
}

void service_record::on(const job_started& x) {
  // The past is now part of the job that has started.
  if (!x.what.name.empty())
    forget_ended(hash_of(x.what.key));
  // If the job had another key before, that key does not lead to it any more.
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
  if (!at->second.name.empty() && !x.past.empty())
    keep_ended(hash_of(at->second.key), {x.id, x.past});
  if (x.collected) {
    collected_.push_back(x.id);
    if (collected_.size() > most_collected)
      collected_.pop_front();
  }
  jobs_.erase(at);
  release(x.id);
}

void service_record::release(job_id user) {
  if (const auto used = used_by_.extract(user))
    for (const auto& id : used.mapped())
      if (auto& users = passing_.at(id); users.erase(user) != 0 && users.empty())
        left_over_.push_back(id);
  while (left_over_.size() > most_left_over || (left_over_.size() > 1 && datasets_.bytes() > roomy))
    drop_oldest(left_over_);
}

void service_record::keep_draining(worker_id id) {
  draining_.insert(id);
  // Workers get ascending numbers, so the lowest ones are those of the oldest workers, which were
  // most probably lost before they could leave.
  if (draining_.size() > most_draining)
    draining_.erase(draining_.begin());
}

void service_record::on(const save_begun& x) {
  saves_.insert_or_assign(x.what.id, x.what);
  use(x.what.dataset_id, user(x.what.id));
}

void service_record::on(const save_ended& x) {
  saves_.erase(x.how.id);
  release(user(x.how.id));
  ended_saves_.push_back(x.how);
  if (ended_saves_.size() > most_ended_saves)
    ended_saves_.pop_front();
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

} // namespace headrace::detail
