#include "headrace/runtime/supervision/board.hpp"

#include <algorithm>

namespace headrace::detail {

namespace {

/// Moves the snapshots of the supervisors below `into` from `rest` into `into`. `rest` contains the
/// snapshots that are not in the tree yet.
void gather(supervisor_snapshot& into, std::map<std::string, supervisor_snapshot>& rest) {
  for (auto& child : into.children)
    if (auto at = rest.extract(into.path + "/" + child.id); !at.empty()) {
      child.below.push_back(std::move(at.mapped()));
      gather(child.below.back(), rest);
    }
}

} // namespace

void supervision_board::put(supervisor_snapshot now) {
  std::lock_guard lock{mutex_};
  auto path = now.path;
  at_.insert_or_assign(std::move(path), std::move(now));
}

void supervision_board::erase(const std::string& path) {
  std::lock_guard lock{mutex_};
  at_.erase(path);
}

std::vector<supervisor_snapshot> supervision_board::roots() const {
  std::map<std::string, supervisor_snapshot> rest;
  {
    std::lock_guard lock{mutex_};
    rest = at_;
  }
  // A path sorts before the paths below it, so the first remaining one is always a root.
  std::vector<supervisor_snapshot> result;
  while (!rest.empty()) {
    result.push_back(std::move(rest.extract(rest.begin()).mapped()));
    gather(result.back(), rest);
  }
  return result;
}

} // namespace headrace::detail
