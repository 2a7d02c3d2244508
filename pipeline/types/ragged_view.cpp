#include "headrace/pipeline/types/ragged_view.hpp"

#include <fmt/format.h>

namespace headrace {

namespace {

[[noreturn]] void no_part(const element& at, const std::string& which) {
  throw error{
    invalid_argument(fmt::format("{} of {} is no ragged tensor", which, to_string(at.spec())))};
}

size_t checked(const element& at, size_t index) {
  if (index >= at.spec().layout.children().size())
    no_part(at, fmt::format("part {}", index));
  return index;
}

size_t named(const element& at, std::string_view name) {
  const auto index = at.spec().layout.find(name);
  if (index < 0)
    no_part(at, fmt::format("'{}'", name));
  return static_cast<size_t>(index);
}

} // namespace

ragged_view::ragged_view(const element& at, const structure& layout, size_t first)
  : element_(&at), first_(first), axes_(layout.leaves() - 1) {
  if (!layout.is_ragged())
    no_part(at, fmt::format("component {}", first));
}

ragged_view::ragged_view(const element& at, size_t index)
  : ragged_view(at, at.spec().layout.children()[checked(at, index)],
                at.spec().layout.first_leaf(index)) {}

ragged_view::ragged_view(const element& whole) : ragged_view(whole, whole.spec().layout, 0) {}

ragged_view::ragged_view(const element& at, std::string_view name)
  : ragged_view(at, named(at, name)) {}

std::vector<int64_t> ragged_view::row_splits(size_t axis) const {
  std::vector<int64_t> out{0};
  for (auto n : row_lengths(axis)) out.push_back(out.back() + n);
  return out;
}

} // namespace headrace
