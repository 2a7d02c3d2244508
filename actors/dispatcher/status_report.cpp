#include "headrace/actors/dispatcher/status_report.hpp"

#include "headrace/schemas/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

namespace headrace::detail {

namespace {

void write_workers(schema::ServiceStatus::Builder out, const worker_table& workers,
                   const worker_reports& told, time_point now) {
  auto list = out.initWorkers(static_cast<unsigned>(workers.all().size()));
  unsigned i = 0;
  for (const auto& [id, worker] : workers.all()) {
    auto one = list[i++];
    one.setWorkerId(id.value);
    one.setDataAddress(text_of(worker.info.data_address));
    auto tags = one.initTags(static_cast<unsigned>(worker.info.tags.size()));
    for (unsigned t = 0; t < tags.size(); ++t) tags.set(t, text_of(worker.info.tags[t]));
    one.setPid(worker.info.pid);
    one.setAlive(worker.alive);
    one.setLeft(worker.left);
    one.setDraining(worker.alive && worker.info.draining);
    one.setSinceHeartbeatNs(static_cast<uint64_t>((now - worker.last_heard).count()));
    if (auto beat = told.heartbeats.find(id); beat != told.heartbeats.end()) {
      auto said = beat->second->getDispatcher().getWorkerHeartbeat();
      one.setTasks(said.getTasks().size());
      one.setMetrics(said.getMetrics());
    }
    if (auto tree = told.trees.find(id); tree != told.trees.end())
      one.setTree(data_of(tree->second));
  }
}

/// A part of the answer that can be left out.
struct part {
  size_t bytes;
  std::function<void()> leave_out;
};

/// Removes the largest parts until `bytes`, the size of the answer, is at most `most`. Returns how
/// many were removed.
size_t shrink(std::vector<part> parts, size_t& bytes, size_t most) {
  std::ranges::stable_sort(parts, std::greater{}, &part::bytes);
  size_t gone = 0;
  for (const auto& x : parts) {
    if (bytes <= most)
      break;
    bytes -= x.bytes;
    x.leave_out();
    ++gone;
  }
  return gone;
}

} // namespace

std::string leave_out_what_is_too_large(worker_reports& told, std::vector<envelope>& jobs,
                                        size_t most) {
  size_t bytes = 0;
  std::vector<part> of_workers;
  for (const auto& [id, tree] : told.trees)
    of_workers.push_back({tree.size(), [&told, id = id] { told.trees.erase(id); }});
  for (const auto& [id, beat] : told.heartbeats)
    of_workers.push_back({beat.size_bytes(), [&told, id = id] { told.heartbeats.erase(id); }});
  std::vector<part> of_jobs;
  for (auto& job : jobs) of_jobs.push_back({job.size_bytes(), [&job] { job = {}; }});
  for (const auto* all : {&of_workers, &of_jobs})
    for (const auto& x : *all) bytes += x.bytes;
  const auto reports = shrink(std::move(of_workers), bytes, most);
  const auto answers = shrink(std::move(of_jobs), bytes, most);
  std::erase_if(jobs, [](const envelope& job) { return !job.valid(); });
  if (reports + answers == 0)
    return {};
  return fmt::format("{} reports of workers (supervision trees and heartbeats) and {} jobs: with "
                     "them it would take more than the {} bytes that fit",
                     reports, answers, most);
}

void write_status(schema::ServiceStatus::Builder out, const worker_table& workers,
                  const worker_reports& told, const std::vector<envelope>& jobs, time_point now) {
  write_workers(out, workers, told, now);
  std::map<uint64_t, schema::TaskProgress::Reader> progress;
  for (const auto& [id, beat] : told.heartbeats)
    for (auto task : beat->getDispatcher().getWorkerHeartbeat().getTasks())
      progress.emplace(task.getTaskId(), task);
  auto list = out.initJobs(static_cast<unsigned>(jobs.size()));
  for (unsigned i = 0; i < jobs.size(); ++i) {
    list.setWithCaveats(i, jobs[i]->getDispatcher().getStatus().getJobs()[0]);
    for (auto task : list[i].getTasks()) {
      auto said = progress.find(task.getTaskId());
      if (said == progress.end())
        continue;
      task.setElements(std::max(task.getElements(), said->second.getElements()));
      task.setBytes(std::max(task.getBytes(), said->second.getBytes()));
      task.setIgnored(std::max(task.getIgnored(), said->second.getIgnored()));
      task.setElementsPerSecond(said->second.getElementsPerSecond());
      task.setStreams(said->second.getStreams());
      task.setRestarts(said->second.getRestarts());
      if (said->second.hasWindow())
        task.setWindow(said->second.getWindow());
      task.setOperators(said->second.getOperators());
    }
  }
}

} // namespace headrace::detail
