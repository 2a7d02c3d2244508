#include "headrace/actors/dispatcher/dispatcher_core.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::detail {

// The functions for workers that are to leave, and for requests that wait until they have left.

namespace {

/// Lists the numbers and addresses of at most 16 of the living workers, for a message.
std::string names_of(const std::map<worker_id, worker_table::record>& all) {
  constexpr size_t most = 16;
  std::string out;
  size_t named = 0, alive = 0;
  for (const auto& [id, worker] : all)
    if (worker.alive && ++alive && named < most)
      out += fmt::format("{}{} at {}", named++ == 0 ? "" : ", ", to_string(id),
                         worker.info.data_address);
  if (alive > named)
    out += fmt::format(", and {} more", alive - named);
  return out.empty() ? "there are none" : "there are: " + out;
}

std::string worker_text_of(const drain_request& what) {
  if (const auto* address = std::get_if<std::string>(&what.which))
    return "at " + *address;
  return "of the number " + to_string(std::get<worker_id>(what.which));
}

} // namespace

dispatcher_commands dispatcher_core::drain_worker(request_token request,
                                                  const drain_request& wanted, time_point now) {
  if (auto how = drained(wanted, now)) {
    answer(request, *std::move(how));
  } else {
    drains_.push_back({request, wanted});
    todo_.push_back(dispatcher_command::watch_asker{request});
  }
  return finish();
}

const dispatcher_core::known_worker* dispatcher_core::meant_by(const drain_request& what) const {
  const auto& all = workers_.all();
  if (const auto* id = std::get_if<worker_id>(&what.which)) {
    const auto at = all.find(*id);
    return at != all.end() ? &*at : nullptr;
  }
  const auto& address = std::get<std::string>(what.which);
  const known_worker* out = nullptr;
  for (const auto& one : all)
    if (one.second.info.data_address == address && (out == nullptr || one.second.alive))
      out = &one;
  return out;
}

std::optional<dispatcher_core::answer_value> dispatcher_core::drained(const drain_request& what,
                                                                      time_point now) {
  const auto* who = meant_by(what);
  if (who == nullptr) {
    if (may_come_back(now))
      return {};
    return not_found(fmt::format("this service has no worker {}; {}", worker_text_of(what),
                                 names_of(workers_.all())));
  }
  const auto& [id, worker] = *who;
  const auto& info = worker.info;
  const auto name = fmt::format("worker {} at {}", to_string(id), info.data_address);
  if (!worker.alive && !worker.left)
    return aborted(fmt::format(
      "{} is lost: nothing was heard of it for {:.1f} s, and what its tasks had begun "
      "is lost with it; should it come back while this dispatcher knows it, it {}",
      name, in_seconds(now - worker.last_heard), record_.drains(id) ? "leaves" : "works on"));
  // A recorded order to leave also holds for another process in the worker's place. If no order is
  // recorded, the process that was to leave has left, or the record was lost, so a new request is
  // needed.
  if (what.life && what.life != info.life && !record_.drains(id))
    return aborted(name
                   + " is another process than the one that was to leave, which "
                     "has ended");
  worker_drains out{id, info.life, info.data_address, worker.tasks, worker.left, worker.unfinished};
  if (worker.left)
    return out;
  if (!record_.drains(id)) {
    commit(service_record::worker_drains{id});
    say(log_level::info, "worker is to leave",
        {{"worker", to_string(id)}, {"data", info.data_address}});
    keep_from_tasks(id);
  }
  if (what.known == worker.tasks)
    return {};
  return out;
}

void dispatcher_core::keep_from_tasks(worker_id who) {
  if (const auto changed = workers_.drain(who))
    tell_jobs(*changed, false);
}

void dispatcher_core::answer_drains(time_point now) {
  std::erase_if(drains_, [&](const waiting_drain& one) {
    const auto how = drained(one.what, now);
    if (how)
      answer(one.request, *how);
    return how.has_value();
  });
}

std::optional<time_point> dispatcher_core::next_deadline() const {
  auto out = workers_.next_deadline();
  // Requests for an unknown worker wait for one lease after the start, because the worker may come
  // back; when the lease has passed they are answered with not_found.
  if (std::ranges::any_of(drains_,
                          [&](const auto& one) { return meant_by(one.what) == nullptr; })) {
    const auto patience = began_ + terms_.timing.lease;
    out = out ? std::min(*out, patience) : patience;
  }
  return out;
}

} // namespace headrace::detail
