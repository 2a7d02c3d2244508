#include "headrace/actors/dispatcher/status_report.hpp"

namespace headrace {

namespace {

void write_workers(schema::ServiceStatus::Builder out, const worker_table& workers,
                   const worker_reports& told, time_point now) {
  auto list = out.initWorkers(static_cast<unsigned>(workers.all().size()));
  unsigned i = 0;
  for (const auto& [id, worker] : workers.all()) {
    auto one = list[i++];
    one.setWorkerId(id.value);
    one.setDataAddress(worker.info.data_address);
    auto tags = one.initTags(static_cast<unsigned>(worker.info.tags.size()));
    for (unsigned t = 0; t < tags.size(); ++t) tags.set(t, worker.info.tags[t]);
    one.setPid(worker.info.pid);
    one.setAlive(worker.alive);
    one.setLeft(worker.left);
    one.setSinceHeartbeatNs(static_cast<uint64_t>((now - worker.last_heard).count()));
    if (auto beat = told.heartbeats.find(id); beat != told.heartbeats.end()) {
      auto said = beat->second->getDispatcher().getWorkerHeartbeat();
      one.setTasks(said.getTasks().size());
      one.setStuckThreads(said.getStuckThreads());
      one.setRefusedLinks(said.getRefusedLinks());
      one.setBadMessages(said.getBadMessages());
    }
    if (auto tree = told.trees.find(id); tree != told.trees.end())
      one.setTree({reinterpret_cast<const kj::byte*>(tree->second.data()), tree->second.size()});
  }
}

} // namespace

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
    }
  }
}

} // namespace headrace
