#include "headrace/actors/consumer/consumer_core.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace headrace::detail {

namespace {

constexpr size_t most_named = 8; ///< how many missing consumers an error names

} // namespace

// This file has the epochs of coordinated reads, which the job proposes and announces.

std::optional<uint64_t> consumer_core::place_of(task_id task) const {
  const auto& rounds = view_.rounds;
  const auto* seat = rounds.seat_of(id_);
  if (seat == nullptr)
    return {};
  const auto at = rounds.now.find(task);
  // The stream of a task that is not in the present epoch begins with the task's first element.
  if (!at)
    return 0;
  // The first element of a new consumer is known when the first epoch in which it reads was agreed
  // on.
  return seat->begins <= rounds.now.number ? std::optional{rounds.now.tasks[*at].first_group}
                                           : std::nullopt;
}

void consumer_core::apply_rounds(const round_view& rounds, time_point now) {
  const auto* seat = rounds.seat_of(id_);
  if (seat == nullptr)
    return;
  if (rounds.seats.size() < rounds.consumers) {
    if (!incomplete_since_)
      incomplete_since_ = now;
  } else {
    incomplete_since_.reset();
  }
  for (auto& [id, s] : streams_) {
    if (!s.unplaced || s.ended)
      continue;
    const auto place = place_of(id);
    if (!place)
      continue;
    s.unplaced = false;
    s.away_since = now; // until now the stream needed no link
    if (!s.opened) {
      out_->begin_at(id, *place);
      s.received.begin_at(*place);
    }
    then(consume::make_link{s.address});
  }
  const auto known = out_->rounds().epoch;
  if (rounds.now.number > known && rounds.now.number >= seat->begins) {
    out_->begin_epoch(rounds.now);
    waits_for_epoch_ = 0;
    for (auto& [id, s] : streams_)
      if (s.open && !s.ended)
        grant(id, s, out_->of(id), out_->waiting());
  }
  if (rounds.proposed > rounds.now.number && seat->begins <= rounds.now.number
      && waits_for_epoch_ != rounds.proposed) {
    waits_for_epoch_ = rounds.proposed;
    out_->freeze_rounds();
    say_alive(now);
  }
}

status consumer_core::missing_consumers(time_point now) const {
  if (!incomplete_since_ || !waiting_since_
      || now - std::max(*incomplete_since_, *waiting_since_) < options_.consumer_timeout)
    return {};
  std::vector<uint32_t> missing;
  const auto& rounds = view_.rounds;
  for (uint32_t i = 0; i < rounds.consumers && missing.size() < most_named; ++i)
    if (std::ranges::find(rounds.seats, i, &round_seat::index) == rounds.seats.end())
      missing.push_back(i);
  const auto waited = in_seconds(options_.consumer_timeout);
  const bool one = missing.size() == 1;
  const auto others = rounds.consumers - rounds.seats.size() - missing.size();
  const auto whose =
    fmt::format("with consumer_index {}{} of {}", fmt::join(missing, ", "),
                others == 0 ? "" : fmt::format(" and {} more", others), rounds.consumers);
  if (rounds.now.number == 0)
    return unavailable(fmt::format(
      "coordinated reads: no consumer {} has come to job '{}' for {:.0f} s, and no round begins "
      "without it; start it, or give `consumer_timeout` more (all consumers must have the same "
      "dataset: another one under that job_name is another job)",
      whose, options_.job_name, waited));
  return unavailable(fmt::format(
    "coordinated reads: the {} {} of job '{}' {} left (perhaps as {} waited in vain, too) or {} "
    "lost, "
    "and none has come in {} place for {:.0f} s; start {} again with `rejoin`, or give "
    "`consumer_timeout` more",
    one ? "consumer" : "consumers", whose, options_.job_name, one ? "has" : "have",
    one ? "it" : "they", one ? "is" : "are", one ? "its" : "their", waited, one ? "it" : "them"));
}

} // namespace headrace::detail
