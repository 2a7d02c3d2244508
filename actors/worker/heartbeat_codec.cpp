#include "headrace/actors/worker/heartbeat_codec.hpp"

#include "headrace/actors/protocol/envelope_parts.hpp"
#include "headrace/runtime/metrics/metric_codec.hpp"

namespace headrace {

namespace {

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
  write_metrics(out.initMetrics(static_cast<unsigned>(process.metrics.size())), process.metrics);
  if (!process.tree.empty())
    out.setTree(data_of(process.tree));
}

} // namespace headrace
