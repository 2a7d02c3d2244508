#include "headrace/client/command/run/run_ranks.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace headrace::detail::command {

namespace {

/// A rank counts as ended if none of its workers has been alive for this time, which is longer than
/// a restart of a worker takes.
constexpr auto lost_for_good = std::chrono::seconds{10};

std::vector<worker_status> workers_of(int rank, const service_status& in) {
  std::vector<worker_status> out;
  std::ranges::copy_if(in.workers, std::back_inserter(out),
                       [tag = tag_of_rank(rank)](const auto& x) { return has_tag(x, tag); });
  return out;
}

const run_progress* record_of(int rank, rank_records records) {
  if (records == nullptr)
    return nullptr;
  const auto at = records->find(rank);
  return at != records->end() ? &at->second : nullptr;
}

} // namespace

std::string tag_of_rank(int rank) { return fmt::format("node-{}", rank); }
std::string tag_of_process(const std::string& process) { return "process-" + process; }

bool has_tag(const worker_status& x, const std::string& tag) {
  return std::ranges::find(x.tags, tag) != x.tags.end();
}

std::string ranks_text(const std::vector<int>& ranks) {
  const bool one = ranks.size() == 1;
  return fmt::format("rank{} {}{}", one ? "" : "s",
                     fmt::join(ranks.begin(), ranks.end() - (one ? 0 : 1), ", "),
                     one ? "" : fmt::format(" and {}", ranks.back()));
}

missing_ranks missing_at_begin(const service_status& now, const run_rank& own, int workers,
                               rank_records records) {
  missing_ranks out;
  for (int rank = 0; rank < own.size; ++rank) {
    const auto* record = record_of(rank, records);
    if (records != nullptr && record == nullptr && rank != own.rank) {
      out.ranks.push_back(rank);
      continue;
    }
    const auto wanted =
      static_cast<size_t>(rank == own.rank || record == nullptr ? workers : record->workers);
    // A worker that has left also counts as registered.
    const auto there = workers_of(rank, now).size();
    if (there >= wanted || (record != nullptr && record->state != "running"))
      continue;
    out.ranks.push_back(rank);
    out.about += fmt::format("; of rank {} there {} {} of {} workers", rank,
                             there == 1 ? "is" : "are", there, wanted);
  }
  return out;
}

std::vector<int> unended_ranks::look(const service_status* now, rank_records records,
                                     const run_rank& own, const question& matters,
                                     const std::string& state, time_point at) {
  std::vector<int> out;
  for (int rank = 0; rank < own.size; ++rank) {
    const auto* record = record_of(rank, records);
    if (rank == own.rank || !matters(rank, record)
        || (record != nullptr && (record->state == "ended" || record->state == state)))
      continue;
    const auto workers = now != nullptr ? workers_of(rank, *now) : std::vector<worker_status>{};
    if (workers.empty() || std::ranges::any_of(workers, &worker_status::alive)) {
      without_.erase(rank);
      out.push_back(rank);
    } else if (!std::ranges::all_of(workers, &worker_status::left)
               && at - without_.emplace(rank, at).first->second < lost_for_good) {
      out.push_back(rank);
    }
  }
  return out;
}

rival rival_of(const service_status& now, int rank, const std::string& process, duration here_for,
               bool remembers) {
  rival out;
  for (const auto& x : now.workers) {
    if (!has_tag(x, tag_of_rank(rank)) || has_tag(x, tag_of_process(process)))
      continue;
    const bool has_left = x.left && !remembers;
    if ((x.alive || has_left) && !out.lives)
      out = {x.address, has_left || x.since_heartbeat < here_for};
  }
  return out;
}

} // namespace headrace::detail::command
