#include "headrace/pipeline/operators/kept/shuffle_history.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

std::vector<uint64_t> shuffle_history::places(counter_random& choices) const {
  const auto first_fill = std::min(size, entered);
  // Choices 0 to `refills` were made in a full buffer, and all of these except the last were
  // followed by a new row.
  const auto refills = entered - first_fill;
  constexpr auto nobody = UINT64_MAX;
  std::vector<uint64_t> out(held());
  // The loop below goes back from the last state of the buffer to earlier ones. `whose[p]`: the
  // place in the last state of the row that is at place p at the loop's step. `nobody`: that row
  // has left the buffer since, or its number is already in `out`.
  std::vector<uint64_t> whose(first_fill, nobody);
  for (uint64_t i = 0; i < held(); ++i) whose[i] = i;
  auto left = held();
  const auto undo_entry = [&](uint64_t row, uint64_t place) {
    if (whose[place] == nobody)
      return;
    out[whose[place]] = row;
    whose[place] = nobody;
    --left;
  };
  for (auto t = given; t-- != 0 && left != 0;) {
    if (t < refills)
      undo_entry(first_fill + t, first_fill - 1);
    const auto before = first_fill - (t > refills ? t - refills : 0);
    const auto last = before - 1;
    const auto chosen = choices.below(t, before);
    if (chosen != last)
      whose[last] = std::exchange(whose[chosen], nobody);
  }
  for (uint64_t i = 0; i < first_fill && left != 0; ++i) undo_entry(i, i);
  return out;
}

} // namespace headrace::detail
