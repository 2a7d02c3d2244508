#include "headrace/actors/protocol/local_reads.hpp"

#include <algorithm>
#include <cctype>

namespace headrace::detail {

bool is_colocated(const std::vector<std::string>& tags) {
  const auto alike = [](unsigned char x, unsigned char y) { return std::toupper(x) == y; };
  return std::ranges::any_of(
    tags, [&](const std::string& tag) { return std::ranges::equal(tag, colocated_tag, alike); });
}

worker_seat seat_of(const worker_info& who) { return {who.place, is_colocated(who.tags)}; }

bool may_read(target_workers targets, const worker_seat& worker, uint64_t place) {
  if (place != 0 && worker.place == place)
    return true;
  return targets != target_workers::local && !worker.colocated;
}

target_workers resolved(target_workers asked, sharding_policy mode, deployment_mode deployment) {
  const bool beside = is_static(mode) && deployment == deployment_mode::colocated;
  return asked == target_workers::automatic && beside ? target_workers::local : asked;
}

} // namespace headrace::detail
