#include "headrace/actors/worker/heartbeat_codec.hpp"

#include "headrace/actors/protocol/envelope_parts.hpp"

#include <utility>
#include <vector>

namespace headrace {

namespace {

/// The causes for which links were refused, and how many each.
std::vector<std::pair<const char*, uint64_t>> refusals_in(const link_counters& x) {
  std::vector<std::pair<const char*, uint64_t>> out{{"bad_magic", x.bad_magic},
                                                    {"bad_version", x.bad_version},
                                                    {"bad_frame", x.bad_frame},
                                                    {"oversized", x.oversized},
                                                    {"truncated", x.truncated},
                                                    {"silent", x.silent},
                                                    {"tls", x.tls},
                                                    {"crowded", x.crowded}};
  std::erase_if(out, [](const auto& entry) { return entry.second == 0; });
  return out;
}

void write_window(schema::CacheWindow::Builder out, const cache_report& what) {
  out.setFirst(what.first);
  out.setEnd(what.end);
  out.setBytes(what.bytes);
  out.setBlocks(what.blocks);
  out.setEncoded(what.encoded);
  out.setBudget(what.budget);
  auto trainers = out.initTrainers(static_cast<unsigned>(what.trainers.size()));
  for (unsigned i = 0; i < trainers.size(); ++i) {
    const auto& one = what.trainers[i];
    trainers[i].setTrainerId(one.id);
    trainers[i].setLag(one.lag);
    trainers[i].setSkipped(one.skipped);
    trainers[i].setStreams(one.streams);
  }
}

void write_refusals(schema::WorkerHeartbeat::Builder out, const link_counters& counted) {
  const auto refused = refusals_in(counted);
  auto list = out.initRefusedLinks(static_cast<unsigned>(refused.size()));
  for (unsigned i = 0; i < list.size(); ++i) {
    list[i].setCause(refused[i].first);
    list[i].setCount(refused[i].second);
  }
}

} // namespace

void write_heartbeat(schema::WorkerHeartbeat::Builder out, const worker::heartbeat& what,
                     const process_report& process) {
  out.setWorkerId(what.id.value);
  out.setIncarnation(what.life.value);
  out.setLeaving(what.leaving);
  auto tasks = out.initTasks(static_cast<unsigned>(what.tasks.size()));
  for (unsigned i = 0; i < tasks.size(); ++i) {
    const auto& [id, job, counts, per_second] = what.tasks[i];
    tasks[i].setTaskId(id.value);
    tasks[i].setJobId(job.value);
    tasks[i].setElements(counts.made.elements);
    tasks[i].setBytes(counts.made.bytes);
    tasks[i].setIgnored(counts.made.ignored);
    tasks[i].setStreams(counts.streams);
    tasks[i].setRestarts(counts.restarts);
    tasks[i].setElementsPerSecond(per_second);
    if (counts.window)
      write_window(tasks[i].initWindow(), *counts.window);
  }
  out.setStuckThreads(static_cast<uint32_t>(process.stuck_threads));
  out.setBadMessages(process.bad_messages);
  write_refusals(out, process.links);
  if (!process.tree.empty())
    out.setTree(data_of(process.tree));
}

} // namespace headrace
