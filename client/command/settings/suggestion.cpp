#include "headrace/client/command/settings/suggestion.hpp"

#include <algorithm>
#include <numeric>

namespace headrace::detail::command {
namespace {

/// The least number of insertions, deletions and replacements of letters that change `a` into `b`
/// (the Levenshtein distance).
size_t edits(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    auto diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      auto replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

} // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& names) {
  size_t best = word.size() < 5 ? 1 : 2;
  std::string out;
  for (const auto& name : names)
    if (auto distance = edits(word, name); distance < best || (distance == best && out.empty())) {
      best = distance;
      out = name;
    }
  return out;
}

} // namespace headrace::detail::command
