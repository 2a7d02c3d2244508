#include "headrace/actors/cache/window_output.hpp"

#include "headrace/pipeline/types/block_copy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace::detail {

window_output::window_output(std::shared_ptr<window_store> store, options how)
  : terms_(how.terms),
    lease_(how.lease),
    window_(
      std::move(store),
      {.wait = how.terms.wait, .lease = how.lease, .closed = how.terms.expected_trainers != 0}) {}

// -- events -------------------------------------------------------------------------------

void window_output::produced(block rows) {
  waiting_bytes_ += rows.bytes();
  incoming_.push_back(std::move(rows));
}

status window_output::opened(consumer_id who, const stream_open& how) {
  if (how.trainer.empty())
    return invalid_argument("this job has a cross-trainer cache, so that its readers must say "
                            "which trainer they are (trainer_id)");
  const auto known = trainers_.contains(how.trainer);
  if (whole() && begun_ && !known)
    return failed_precondition(
      fmt::format("trainer '{}' comes after this pass has begun: it is for the first {} trainers "
                  "(expected_trainers) that came",
                  how.trainer, terms_.expected_trainers));
  window_.join(how.trainer, how.start);
  auto& x = trainers_
              .try_emplace(how.trainer, trainer{.out = task_output{{.shared = whole(),
                                                                    .accounts = false,
                                                                    .whole = true,
                                                                    .rising = !whole(),
                                                                    .claims = whole()}}})
              .first->second;
  if (leaving_)
    x.out.leaving();
  whose_[who] = how.trainer;
  cut_.erase(who);
  begun_ |= trainers_.size() >= terms_.expected_trainers;
  return x.out.opened(who, how);
}

window_output::trainer* window_output::of(consumer_id who) {
  const auto at = whose_.find(who);
  return at == whose_.end() ? nullptr : &trainers_.at(at->second);
}

void window_output::grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
                          bool waiting) {
  if (auto* x = of(who))
    x->out.grant(who, handed_out, elements, bytes, waiting);
}

void window_output::taken(consumer_id who, uint64_t elements) {
  if (auto* x = of(who))
    x->out.taken(who, elements);
}

void window_output::recalled(consumer_id who, uint64_t id, uint64_t mark) {
  if (auto* x = of(who))
    x->out.recalled(who, id, mark);
}

void window_output::handed_out(consumer_id who, uint64_t elements) {
  if (auto* x = of(who))
    x->out.handed_out(who, elements);
}

void window_output::received(consumer_id who, uint64_t elements) {
  if (auto* x = of(who))
    x->out.received(who, elements);
}

void window_output::claims(consumer_id who, uint64_t elements) {
  if (auto* x = of(who))
    x->out.claims(who, elements);
}

void window_output::leaving() {
  leaving_ = true;
  for (auto& [id, x] : trainers_) x.out.leaving();
}

void window_output::cut(consumer_id who) {
  if (auto* x = of(who))
    x->out.cut(who);
  cut_.try_emplace(who);
}

void window_output::leave(consumer_id who) {
  if (auto* x = of(who))
    x->out.leave(who);
  whose_.erase(who);
  cut_.erase(who);
}

void window_output::give_up(consumer_id who) {
  if (auto* x = of(who))
    x->out.give_up(who);
  whose_.erase(who);
  cut_.erase(who);
}

// -- dealing ------------------------------------------------------------------------------

void window_output::take_in_front(size_t rows) {
  auto& front = incoming_.front();
  waiting_bytes_ -= front.bytes();
  if (rows == front.rows) {
    incoming_.pop_front();
    return;
  }
  front = front.slice(rows, front.rows - rows);
  waiting_bytes_ += front.bytes();
}

bool window_output::extend(time_point now) {
  const auto nothing_to_add = [&] {
    window_.needs_no_room();
    return false;
  };
  if (incoming_.empty())
    return nothing_to_add();
  // Trainers are served in turn, beginning after the one that was served last.
  const auto asks = [&](const auto& x) {
    return x.second.out.has_room() && window_.has_all(x.first);
  };
  auto at = std::find_if(trainers_.upper_bound(last_served_), trainers_.end(), asks);
  if (at == trainers_.end())
    at = std::ranges::find_if(trainers_, asks);
  if (at == trainers_.end())
    return nothing_to_add();
  last_served_ = at->first;
  return extend_for(at->second, now);
}

bool window_output::extend_for(trainer& foremost, time_point now) {
  const auto& front = incoming_.front();
  const auto end = window_.span().end;
  if (front.error_at(0) != nullptr) {
    foremost.out.produced_apart(end, copy_of(front.slice(0, 1)));
    take_in_front(1);
    return true;
  }
  const auto good = front.errors.empty() ? front.rows : front.errors.front().row;
  const auto sound = front.slice(0, good);
  const auto rows = window_.rows_of_a_block(sound);
  const auto piece = sound.slice(0, rows);
  switch (window_.append(piece, now)) {
  case cache_window::outcome::appended: break;
  case cache_window::outcome::no_room: return false;
  case cache_window::outcome::too_large: {
    auto failed = piece;
    failed.errors.push_back(
      {0, resource_exhausted(fmt::format(
            "an element that takes {} bytes is larger than the worker's cross-trainer cache, which "
            "has {} bytes: give that more (`cross_trainer_cache_size_bytes`, "
            "--cross-trainer-cache-size)",
            window_store::charge_of(piece), window_.budget()))});
    foremost.out.produced_apart(end, std::move(failed));
  }
  }
  take_in_front(rows);
  return true;
}

void window_output::add_sends(const std::string& id, trainer& from, bool dry,
                              std::vector<action>& out) {
  auto sends = from.out.deal(dry);
  window_.skipped(id, from.out.skipped() - std::exchange(from.counted, from.out.skipped()));
  const auto skipped = window_.skipped_by(id);
  for (auto& x : sends) {
    if (auto* rows = std::get_if<send_block>(&x))
      rows->skipped = skipped;
    out.push_back(std::move(x));
  }
}

void window_output::feed_all(std::vector<action>& out) {
  for (auto& [id, x] : trainers_) {
    if (x.out.pending_rows() != 0)
      add_sends(id, x, false, out);
    while (x.out.has_room()) {
      const auto next = window_.read(id);
      if (!next)
        break;
      dealt_rows rows{next->rows, next->rows};
      if (next->from != 0)
        rows = rows.slice(next->from, rows.rows() - next->from);
      x.out.produced_at(next->first, std::move(rows));
      add_sends(id, x, false, out);
    }
    renew_place(id, x);
  }
}

void window_output::renew_place(const std::string& id, trainer& of) {
  if (of.out.idle())
    window_.handed_out_all(id);
  else
    window_.handed_out(id, of.out.place());
}

void window_output::look_at_the_cut(time_point now) {
  // With `expected_trainers`, the rows of a consumer whose connection is cut go to other readers of
  // the same trainer, once the job gives that consumer up.
  if (whole())
    return;
  for (auto& [who, since] : cut_) {
    if (!since)
      since = now;
    if (auto* x = of(who); x != nullptr && *since + lease_ <= now)
      x->out.disregard(who);
  }
  looked_at_ = now;
}

std::optional<time_point> window_output::next_deadline() const {
  auto out = window_.next_deadline();
  if (terms_.wait && !whole())
    for (const auto& [who, since] : cut_)
      if (since && *since + lease_ > looked_at_)
        out = std::min(out.value_or(*since + lease_), *since + lease_);
  return out;
}

std::vector<dealer::action> window_output::deal_at(time_point now, bool dry) {
  std::vector<action> out;
  look_at_the_cut(now);
  for (auto& [id, x] : trainers_) {
    // Rows that were sent before a cut are sent again, even before all expected trainers have
    // joined.
    add_sends(id, x, false, out);
    renew_place(id, x);
    if (x.out.connected() == 0)
      window_.leave(id, now);
  }
  drop_trainers_without_streams();
  window_.look(now);
  if (!begun_)
    return out;
  // Blocks are fed one at a time, so that no block is evicted before all trainers with credit were
  // sent it.
  feed_all(out);
  while (extend(now)) feed_all(out);
  for (auto& [id, x] : trainers_) {
    if (all_made() && window_.has_all(id))
      x.out.exhausted();
    add_sends(id, x, dry, out);
    renew_place(id, x);
  }
  return out;
}

void window_output::drop_trainers_without_streams() {
  // With `expected_trainers` a trainer is kept: rows that its reader leaves go to another reader.
  if (whole())
    return;
  for (auto at = trainers_.begin(); at != trainers_.end();) {
    auto& [id, x] = *at;
    if (x.out.streams() != 0) {
      ++at;
      continue;
    }
    if (const auto next = window_.next_of(id)) {
      window_.put_back(id, x.out.drop_pending(*next));
      window_.skipped(id, x.out.skipped() - x.counted);
    }
    at = trainers_.erase(at);
  }
}

bool window_output::could_recall() const {
  return std::ranges::any_of(trainers_, [](const auto& x) { return x.second.out.could_recall(); });
}

std::vector<dealer::send_end> window_output::remaining_ends() {
  std::vector<send_end> out;
  for (auto& [id, x] : trainers_)
    std::ranges::move(x.out.remaining_ends(), std::back_inserter(out));
  return out;
}

// -- state --------------------------------------------------------------------------------

bool window_output::finished() const {
  return begun_ && all_made() && std::ranges::all_of(trainers_, [](const auto& entry) {
           return entry.second.out.streams() == 0 || entry.second.out.finished();
         });
}

bool window_output::delivered() const {
  return all_made() && std::ranges::all_of(trainers_, [&](const auto& entry) {
           const auto& [id, x] = entry;
           return x.out.streams() == 0 || (window_.has_all(id) && x.out.delivered());
         });
}

std::map<consumer_id, reader_marks> window_output::held() const {
  std::map<consumer_id, reader_marks> out;
  for (const auto& [id, x] : trainers_) out.merge(x.out.held());
  return out;
}

std::map<consumer_id, reader_marks> window_output::lost() const {
  std::map<consumer_id, reader_marks> out;
  for (const auto& [id, x] : trainers_) out.merge(x.out.lost());
  return out;
}

uint64_t window_output::handed_out_below() const {
  auto out = window_.span().end;
  for (const auto& [id, x] : trainers_) out = std::min(out, window_.place_of(id));
  return out;
}

std::optional<cache_report> window_output::report() const {
  auto out = window_.report();
  for (auto& one : out.trainers)
    if (const auto at = trainers_.find(one.id); at != trainers_.end()) {
      one.lag += at->second.out.outstanding();
      one.streams = static_cast<uint32_t>(at->second.out.connected());
    }
  return out;
}

} // namespace headrace::detail
