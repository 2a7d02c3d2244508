#include "headrace/actors/dispatcher/worker_table.hpp"

#include <algorithm>

namespace headrace::detail {

const worker_info* worker_table::rival(const worker_info& who) const {
  for (const auto& [id, worker] : workers_)
    if (worker.alive && worker.connected && worker.info.life != who.life
        && worker.info.data_address == who.data_address)
      return &worker.info;
  return nullptr;
}

void worker_table::disconnected(worker_id id, incarnation life) {
  if (auto at = workers_.find(id); at != workers_.end() && at->second.info.life == life)
    at->second.connected = false;
}

worker_table::registered worker_table::add(worker_info info, time_point now) {
  registered out;
  auto at = info.id ? workers_.find(info.id) : workers_.end();
  if (at != workers_.end() && at->second.info.life != info.life
      && at->second.info.data_address != info.data_address)
    at = workers_.end(); // the number belongs to another worker
  // A restarted process has the same address, and has lost its old id.
  if (at == workers_.end())
    at = std::find_if(workers_.begin(), workers_.end(), [&](const auto& entry) {
      return entry.second.info.data_address == info.data_address;
    });
  if (at == workers_.end()) {
    if (!info.id || workers_.contains(info.id))
      info.id = worker_id{last_ + 1};
    last_ = std::max(last_, info.id.value);
    out.joined = true;
    at = workers_.emplace(info.id, record{}).first;
  } else {
    info.id = at->first;
    out.joined = !at->second.alive || at->second.info.life != info.life;
    if (at->second.alive && out.joined)
      out.replaced = at->second.info;
  }
  out.id = info.id;
  leases_.grant(out.id, now);
  at->second = {std::move(info), now};
  return out;
}

bool worker_table::renew(worker_id id, incarnation life, time_point now) {
  auto at = workers_.find(id);
  if (at == workers_.end() || !at->second.alive || at->second.info.life != life)
    return false;
  at->second.last_heard = now;
  leases_.renew(id, now);
  return true;
}

std::optional<worker_info> worker_table::drain(worker_id id) {
  const auto at = workers_.find(id);
  if (at == workers_.end() || !at->second.alive || at->second.info.draining)
    return {};
  at->second.info.draining = true;
  return at->second.info;
}

std::optional<worker_info> worker_table::leave(worker_id id, incarnation life,
                                               uint32_t unfinished) {
  auto at = workers_.find(id);
  if (at == workers_.end() || !at->second.alive || at->second.info.life != life)
    return {};
  at->second.alive = false;
  leases_.release(id);
  at->second.left = true;
  at->second.unfinished = unfinished;
  return at->second.info;
}

std::vector<worker_info> worker_table::expire(time_point now) {
  std::erase_if(workers_, [&](const auto& entry) {
    return !entry.second.alive && entry.second.last_heard + remembered <= now;
  });
  std::vector<worker_info> out;
  for (const auto id : leases_.advance(now)) {
    auto& worker = workers_.at(id);
    worker.alive = false;
    out.push_back(worker.info);
  }
  return out;
}

std::optional<time_point> worker_table::next_deadline() const { return leases_.next_deadline(); }

size_t worker_table::ready() const noexcept {
  return static_cast<size_t>(std::ranges::count_if(
    workers_, [](const auto& entry) { return entry.second.alive && !entry.second.info.draining; }));
}

std::vector<worker_info> worker_table::alive() const {
  std::vector<worker_info> out;
  for (const auto& [id, worker] : workers_)
    if (worker.alive)
      out.push_back(worker.info);
  return out;
}

} // namespace headrace::detail
