#include "headrace/actors/job/round_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headrace::detail {

round_table::round_table(const round_view& known, std::vector<absence> absent, uint64_t missed)
  : consumers_(known.consumers),
    now_(known.now),
    proposed_(known.proposed),
    absent_(std::move(absent)),
    missed_(missed) {
  for (const auto& x : known.seats) seats_[x.index] = x;
}

void round_table::apply(const agreed& what) {
  // The others continued without a consumer that is gone only through rounds that it had received.
  // It may have handed out more than it last reported, so the sum is an upper bound.
  for (const auto& x : absent_) missed_ += missed_before(what.next.first_round, x);
  absent_.clear();
  now_ = what.next;
  proposed_ = 0;
}

void round_table::take_seat(consumer_id who, uint32_t index) {
  seats_[index] = {who, index, now_.number + 1};
}

uint64_t round_table::missed_before(uint64_t round, const absence& by) const noexcept {
  return std::min(by.most, round - std::min(by.next, round));
}

void round_table::leave_seat(consumer_id who, const absence& where, uint64_t up_to) {
  std::erase_if(seats_, [who](const auto& x) { return x.second.who == who; });
  if (where.most != 0)
    absent_.push_back(where);
  if (has_participants())
    return;
  // No consumer that takes part is left, so the misses are counted now: the next epoch begins with
  // other tasks, at a round that does not show how far the readers came. Consumers that left in
  // order count as having missed nothing: if all loops end after the same step, consumers still
  // differ in the rounds that they had requested ahead.
  for (const auto& x : absent_)
    if (x.lost)
      missed_ += missed_before(up_to, x);
  absent_.clear();
}

bool round_table::has_participants() const {
  return std::ranges::any_of(seats_, [&](const auto& x) { return x.second.begins <= now_.number; });
}

bool round_table::takes_part(consumer_id who) const {
  return std::ranges::any_of(
    seats_, [&](const auto& x) { return x.second.who == who && x.second.begins <= now_.number; });
}

std::optional<consumer_id> round_table::who_has(uint32_t index) const {
  const auto at = seats_.find(index);
  return at == seats_.end() ? std::nullopt : std::optional{at->second.who};
}

status round_table::may_take(uint32_t index, bool rejoins, const std::string& job) const {
  if (index >= consumers_)
    return invalid_argument(fmt::format("consumer_index is {}; the rounds of job '{}' are shared "
                                        "by {} consumers, so that it must be 0 to {}",
                                        index, job, consumers_, consumers_ - 1));
  if (rejoins)
    return {};
  if (seats_.contains(index))
    return failed_precondition(fmt::format(
      "another consumer reads job '{}' with consumer_index {}; each of the {} consumers needs an "
      "index of its own, and one that comes in the place of a lost one says so with `rejoin`",
      job, index, consumers_));
  if (has_participants())
    return failed_precondition(fmt::format(
      "the first rounds of job '{}' are over, and consumer {} was not there: one that comes in the "
      "place of a lost consumer says so with `rejoin`; to begin anew give another job_name",
      job, index));
  return {};
}

round_table::step round_table::next(const tasks& there,
                                    const std::map<consumer_id, uint64_t>& places,
                                    uint64_t furthest, bool left_behind) const {
  const bool begun = std::ranges::any_of(
    there.running, [&](auto id) { return now_.number != 0 && now_.find(id).has_value(); });
  // Without consumers, tasks that have served rounds are begun anew: a new consumer could not
  // continue in the middle of their outputs.
  if (seats_.empty())
    return begun ? step{renew{}} : wait{};
  const auto running = [&](const auto& x) {
    return std::ranges::find(there.running, x.task) != there.running.end();
  };
  const bool gone = !std::ranges::all_of(now_.tasks, running);
  // Although seats are free, the present readers get a new epoch if they wait for a proposed one,
  // or if they are behind a reader that left in order and a task is gone: that task can no longer
  // announce how much all consumers have received. So the readers continue up to the round of the
  // reader that left.
  const bool waited_for = has_participants() && (proposed_ > now_.number || (left_behind && gone));
  if (there.running.empty() || (seats_.size() < consumers_ && !waited_for))
    return wait{};
  if (now_.number != 0 && !has_participants()) {
    if (begun)
      return renew{};
    if (there.more_to_come)
      return wait{};
    return agreed{now_.followed_by(now_.first_round, there.running)};
  }
  if (now_.number == 0)
    return there.more_to_come ? step{wait{}} : agreed{now_.followed_by(0, there.running)};
  if (proposed_ > now_.number) {
    auto first = std::max(now_.first_round, furthest);
    for (const auto& [index, seat] : seats_) {
      if (seat.begins > now_.number)
        continue;
      const auto place = places.find(seat.who);
      if (place == places.end())
        return wait{};
      first = std::max(first, place->second);
    }
    return agreed{now_.followed_by(first, there.running)};
  }
  const bool fresh = there.running.size() > now_.tasks.size() && !there.more_to_come;
  const bool come =
    std::ranges::any_of(seats_, [&](const auto& x) { return x.second.begins > now_.number; });
  return gone || fresh || come ? step{proposed{now_.number + 1}} : wait{};
}

round_view round_table::view() const {
  round_view out{.consumers = consumers_, .now = now_, .proposed = proposed_};
  for (const auto& [index, seat] : seats_) out.seats.push_back(seat);
  return out;
}

} // namespace headrace::detail
