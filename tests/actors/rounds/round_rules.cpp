#include "tests/actors/rounds/round_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <map>

namespace headrace::detail::test {

uint64_t round_reading::unreported() const {
  // A heartbeat is sent each second.
  constexpr int64_t longest = std::chrono::nanoseconds{std::chrono::seconds{2}}.count();
  return static_cast<uint64_t>(
    std::ranges::count_if(times, [&](auto at) { return at + longest >= times.back(); }));
}

provenance provenance_of(int64_t element) { return {element >> 32, element & 0xffffffff}; }

std::string broken_rule(const std::vector<round_reading>& all, uint32_t consumers,
                        sharding_policy policy, int64_t shards) {
  struct shared_round {
    int64_t group = -1; ///< the task and, except under DYNAMIC, the group of its output
    std::map<uint32_t, int64_t> numbers;
    std::map<uint32_t, std::string> by;
  };
  const bool leased = policy == sharding_policy::dynamic;
  std::map<uint64_t, shared_round> rounds;
  std::map<int64_t, std::string> given;
  for (const auto& x : all) {
    auto counts = UINT64_MAX;
    if (x.gone)
      for (const auto* y = &x + 1; y != all.data() + all.size(); ++y)
        if (y->index == x.index && !y->rounds.empty())
          counts = std::min(counts, y->rounds.front());
    for (size_t i = 0; i < x.rounds.size(); ++i) {
      const auto round = x.rounds[i];
      if (i != 0 && round != x.rounds[i - 1] + 1)
        return fmt::format("{} was given round {} after {}", x.name, round, x.rounds[i - 1]);
      if (round >= counts)
        break;
      // The last round of a trainer that is gone and has no successor is not compared: the other
      // consumers need not have taken part in it.
      const bool last = x.gone && counts == UINT64_MAX && i + 1 == x.rounds.size();
      const auto n = static_cast<int64_t>(consumers);
      const auto element = x.elements[i];
      const auto [task, x_number] = provenance_of(element);
      const auto number = is_static(policy) ? x_number / shards : x_number;
      if (!leased && number % n != x.index)
        return fmt::format("{}, consumer {}, was given element {} of a task in round {}", x.name,
                           x.index, number, round);
      if (last)
        continue;
      // Under DYNAMIC no two tasks have the same split.
      if (const auto [at, fresh] = given.try_emplace(leased ? number : element, x.name); !fresh)
        return fmt::format("element {} was given to {} and to {}", element, at->second, x.name);
      auto& r = rounds[round];
      const auto group = leased ? task : (task << 32) + number / n;
      if (r.group >= 0 && r.group != group)
        return fmt::format("in round {} {} was given an element of another group than {}", round,
                           x.name, r.by.begin()->second);
      r.group = group;
      if (const auto [at, fresh] = r.by.try_emplace(x.index, x.name); !fresh)
        return fmt::format("round {} of consumer {} was given to {} and to {}", round, x.index,
                           at->second, x.name);
      r.numbers[x.index] = number;
    }
  }
  // In a round the elements must rise with the consumer's index. One round in twenty is excepted,
  // because splits that a worker gave back are leased again after later splits.
  size_t falling = 0;
  for (const auto& [round, r] : rounds)
    falling += !std::ranges::is_sorted(r.numbers, {}, [](const auto& x) { return x.second; });
  if (falling > rounds.size() / 20)
    return fmt::format("in {} of {} rounds a consumer has an earlier element than one before it",
                       falling, rounds.size());
  return {};
}

missed_rounds missed_in(const std::vector<round_reading>& all, uint32_t consumers) {
  missed_rounds out;
  uint64_t furthest = 0;
  std::map<uint32_t, uint64_t> next; // by index of a gone consumer: the round after its last one
  for (uint32_t i = 0; i < consumers; ++i) next[i] = 0;
  for (const auto& x : all) {
    if (x.rounds.empty())
      continue;
    if (const auto at = next.find(x.index); at != next.end() && at->second < x.rounds.front())
      out.sure += x.rounds.front() - at->second;
    next.erase(x.index);
    furthest = std::max(furthest, x.rounds.back() + 1);
    if (x.gone) {
      next[x.index] = x.rounds.back() + 1;
      out.perhaps += x.unreported();
    }
  }
  for (const auto& [index, round] : next) out.perhaps += furthest - std::min(round, furthest);
  return out;
}

std::string miscounted(const missed_rounds& missed, uint64_t counted, bool dispatcher_died) {
  const bool too_many = !dispatcher_died && counted > missed.sure + missed.perhaps;
  if (counted >= missed.sure && !too_many)
    return {};
  return fmt::format("{} rounds, and perhaps {} more, went on without consumers that are gone, and "
                     "the job counts {}",
                     missed.sure, missed.perhaps, counted);
}

} // namespace headrace::detail::test
