#include "headrace/actors/worker/heartbeat_codec.hpp"

#include "headrace/runtime/base/utf8.hpp"
#include "headrace/runtime/metrics/metric_codec.hpp"
#include "headrace/schemas/text.hpp"

namespace headrace::detail {

namespace {

/// The most bytes of an operator's name in a heartbeat.
constexpr size_t most_name = 80;

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
    trainers[i].setTrainerId(text_of(one.id));
    trainers[i].setLag(one.lag);
    trainers[i].setSkipped(one.skipped);
    trainers[i].setStreams(one.streams);
  }
}

void write_operator(schema::OperatorStatus::Builder out, const operator_activity& what) {
  out.setName(text_of(std::string{utf8_prefix(what.name, most_name)}));
  out.setDepth(what.depth);
  out.setInFunction(what.in_function);
  out.setCalls(static_cast<float>(what.calls));
  out.setRowsPerSecond(static_cast<float>(what.rows_per_second));
  out.setBytesPerSecond(static_cast<float>(what.bytes_per_second));
  const auto& x = what.shares;
  out.setBusy(static_cast<float>(x.busy));
  out.setInput(static_cast<float>(x.input));
  out.setOutput(static_cast<float>(x.output));
  out.setLease(static_cast<float>(x.lease));
  out.setStorage(static_cast<float>(x.storage));
  out.setMemory(static_cast<float>(x.memory));
  out.setQueued(static_cast<float>(x.queued));
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
    if (const auto at = process.operators.find(id); at != process.operators.end()) {
      auto list = tasks[i].initOperators(static_cast<unsigned>(at->second.size()));
      for (unsigned n = 0; n < list.size(); ++n) write_operator(list[n], at->second[n]);
    }
  }
  write_metrics(out.initMetrics(static_cast<unsigned>(process.metrics.size())), process.metrics);
  if (!process.tree.empty())
    out.setTree(data_of(process.tree));
}

} // namespace headrace::detail
