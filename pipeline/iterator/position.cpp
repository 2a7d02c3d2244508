#include "headrace/pipeline/iterator/position.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

/// Appends `done` of the position and of all its parts. Returns false if the position or a part
/// cannot be saved.
bool collect(const position& of, std::vector<splits_done>& out) {
  if (!of.refused.ok())
    return false;
  if (of.done)
    out.push_back(*of.done);
  return std::ranges::all_of(of.parts,
                             [&](const auto& part) { return !part || collect(*part, out); });
}

} // namespace

std::optional<std::vector<splits_done>> splits_done_at(const position& at) {
  std::vector<splits_done> all;
  if (!collect(at, all))
    return {};
  std::ranges::sort(all, {}, &splits_done::source);
  // A source with two different entries is left out: which of the two is earlier depends on the
  // order of the leases, which is not known here.
  std::vector<splits_done> out;
  for (size_t i = 0; i < all.size();) {
    const auto same = [&](const auto& x) { return x.source == all[i].source; };
    const auto end = std::find_if_not(all.begin() + static_cast<ptrdiff_t>(i), all.end(), same);
    const auto first = all.begin() + static_cast<ptrdiff_t>(i);
    if (std::all_of(first, end, [&](const auto& x) { return x == *first; }))
      out.push_back(*first);
    i = static_cast<size_t>(end - all.begin());
  }
  return out;
}

} // namespace headrace::detail
