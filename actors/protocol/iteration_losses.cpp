#include "headrace/actors/protocol/iteration_losses.hpp"

#include <fmt/format.h>

namespace headrace::detail {

iteration_losses& iteration_losses::operator+=(const iteration_losses& more) {
  tasks += more.tasks;
  splits += more.splits;
  reread += more.reread;
  elements += more.elements;
  repeated += more.repeated;
  return *this;
}

std::string describe(const iteration_losses& what, sharding_policy mode, bool cached) {
  const auto many = [](uint64_t n, const char* one) {
    return fmt::format("{} {}{}", n, one, n == 1 ? "" : "s");
  };
  const auto held = what.elements == 0
                      ? std::string{}
                      : fmt::format("up to {} were with a trainer that is gone, which may have "
                                    "been given them",
                                    many(what.elements, "element"));
  if (what.tasks == 0 && what.repeated != 0)
    return fmt::format("elements of up to {} of this epoch may have come twice: workers were lost, "
                       "or trainers with rows of workers that had gone before, and others read "
                       "again what may not have been handed out",
                       many(what.repeated, "split"));
  if (what.tasks == 0 && what.elements != 0 && cached)
    return fmt::format("this epoch is incomplete for one of the trainers: up to {} were with an "
                       "iterator of it that is gone, which may have been given them",
                       many(what.elements, "element"));
  if (what.tasks == 0)
    return held.empty() ? held : "this epoch is incomplete: " + held;
  if (mode == sharding_policy::off)
    return fmt::format("this epoch is incomplete: {} lost while they read, so that as many copies "
                       "of the dataset ended early{}{}",
                       what.tasks == 1 ? "1 worker was" : many(what.tasks, "worker") + " were",
                       held.empty() ? "" : "; ", held);
  if (is_static(mode))
    return fmt::format("{} read from the beginning again, so that elements may have come twice{}{}",
                       what.tasks == 1 ? "1 worker was gone while it read, and its shard was"
                                       : many(what.tasks, "worker")
                                           + " were gone while they read, and their shards were",
                       held.empty() ? "" : "; this epoch is incomplete: ", held);
  return fmt::format(
    "this epoch is incomplete: {} lost, and with {} {}{}{}{}",
    what.tasks == 1 ? "1 worker was" : many(what.tasks, "worker") + " were",
    what.tasks == 1 ? "it" : "them",
    what.splits == 0 ? "rows that came from other jobs"
                     : "rows of up to " + many(what.splits, "split"),
    held.empty() ? "" : "; ", held,
    what.reread == 0 ? "" : fmt::format("; {} more were read again by others", what.reread));
}

} // namespace headrace::detail
