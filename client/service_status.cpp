#include "headrace/client/service_status.hpp"

#include "headrace/actors/protocol/codec/save_codec.hpp"
#include "headrace/actors/worker/worker_metrics.hpp"
#include "headrace/client/internal/save_reading.hpp"
#include "headrace/client/internal/service_call.hpp"
#include "headrace/client/internal/supervision_tree.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/link/link_metrics.hpp"
#include "headrace/runtime/metrics/metric_codec.hpp"
#include "headrace/runtime/node/node_metrics.hpp"
#include "headrace/schemas/text.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace {
using namespace detail;

namespace {

duration ns(uint64_t count) { return duration{static_cast<int64_t>(count)}; }

worker_status read(schema::WorkerStatus::Reader in) {
  worker_status out{in.getWorkerId(),
                    string_of(in.getDataAddress()),
                    {},
                    in.getPid(),
                    in.getAlive(),
                    ns(in.getSinceHeartbeatNs()),
                    in.getLeft(),
                    in.getDraining(),
                    read_metrics(in.getMetrics())};
  for (auto tag : in.getTags()) out.tags.emplace_back(text_of(tag));
  return out;
}

window_status read(schema::CacheWindow::Reader in) {
  window_status out{in.getFirst(),  in.getEnd(),    in.getBytes(),
                    in.getBudget(), in.getBlocks(), in.getEncoded()};
  for (auto one : in.getTrainers())
    out.trainers.push_back(
      {string_of(one.getTrainerId()), one.getLag(), one.getSkipped(), one.getStreams()});
  return out;
}

operator_status read(schema::OperatorStatus::Reader in) {
  return {.name = string_of(in.getName()),
          .depth = in.getDepth(),
          .in_function = in.getInFunction(),
          .calls = in.getCalls(),
          .rows_per_second = in.getRowsPerSecond(),
          .bytes_per_second = in.getBytesPerSecond(),
          .busy = in.getBusy(),
          .input = in.getInput(),
          .output = in.getOutput(),
          .lease = in.getLease(),
          .storage = in.getStorage(),
          .memory = in.getMemory(),
          .queued = in.getQueued()};
}

task_status read(schema::TaskStatus::Reader in) {
  task_status out{in.getTaskId(),   in.getWorkerId(),          string_of(in.getState()),
                  in.getElements(), in.getElementsPerSecond(), in.getBytes(),
                  in.getStreams(),  in.getRestarts(),          in.getIgnored()};
  if (in.hasWindow())
    out.window = read(in.getWindow());
  for (auto one : in.getOperators()) out.operators.push_back(read(one));
  return out;
}

trainer_status read(schema::TrainerStatus::Reader in) {
  return {in.getConsumerId(), string_of(in.getName()),   string_of(in.getHost()),
          in.getWaited(),     in.getElementsPerSecond(), in.getBytesPerSecond(),
          in.getElements()};
}

job_status read(schema::JobStatus::Reader in) {
  job_status out{in.getJobId(),
                 string_of(in.getName()),
                 string_of(in.getDatasetId()),
                 string_of(in.getProcessingMode()),
                 string_of(in.getState()),
                 in.getRepetition(),
                 in.getConsumers(),
                 string_of(in.getFailure()),
                 {},
                 in.getLostTasks(),
                 in.getLostSplits(),
                 in.getRereadSplits(),
                 in.getLostElements(),
                 string_of(in.getGuarantee()),
                 in.getRepeatedSplits()};
  for (auto task : in.getTasks()) out.tasks.push_back(read(task));
  if (in.hasRounds()) {
    const auto from = in.getRounds();
    auto& to = out.rounds.emplace();
    to.consumers = from.getConsumers();
    for (auto i : from.getMissing()) to.missing.push_back(i);
    to.epoch = from.getEpoch();
    to.first_round = from.getFirstRound();
    for (auto id : from.getTasks()) to.tasks.push_back(id);
    to.round = from.getRound();
  }
  for (auto one : in.getTrainers()) out.trainers.push_back(read(one));
  return out;
}

} // namespace

uint32_t worker_status::stuck_threads() const {
  for (const auto& x : metrics)
    if (x.name == worker_metric::stuck_threads.name)
      if (const auto* value = std::get_if<double>(&x.value))
        return static_cast<uint32_t>(*value);
  return 0;
}

std::map<std::string, uint64_t> worker_status::refused_links() const {
  std::map<std::string, uint64_t> out;
  for (const auto& x : metrics)
    if (const auto cause = x.labels.find("cause");
        x.name == link_metric::refused.name && cause != x.labels.end())
      out[cause->second] = count_in(metrics, link_metric::refused, x.labels);
  return out;
}

uint64_t worker_status::bad_messages() const {
  return count_in(metrics, node_metric::bad_messages);
}

uint64_t service_status::bad_messages() const {
  return count_in(metrics, node_metric::bad_messages);
}

uint64_t service_status::refused_peers() const {
  return count_in(metrics, node_metric::refused_hellos);
}

std::string_view state_of(const worker_status& x) noexcept {
  return x.alive ? x.draining ? "draining" : "alive" : x.left ? "left" : "lost";
}

std::string_view state_of(const list_entry_status& x, const service_status& in) noexcept {
  if (x.worker == 0)
    return "free";
  const auto at = std::ranges::find(in.workers, x.worker, &worker_status::worker);
  return at == in.workers.end() ? "lost" : state_of(*at);
}

result<service_status> get_service_status(const std::string& dispatcher, duration limit,
                                          const session& with) {
  HEADRACE_ASSIGN(auto answer,
                  service::call({dispatcher, with.state()}, limit,
                                make_envelope(random_id(), [](schema::Envelope::Builder b) {
                                  b.initDispatcher().setGetStatus();
                                })));
  HEADRACE_ASSIGN(const auto said, dispatcher_answer(answer, schema::DispatcherMessage::STATUS));
  const auto in = said.getStatus();
  service_status out;
  out.uptime = ns(in.getUptimeNs());
  out.datasets = in.getDatasets();
  out.metrics = read_metrics(in.getMetrics());
  out.left_out = string_of(in.getLeftOut());
  out.work_dir = string_of(in.getWorkDir());
  out.disk_trouble = string_of(in.getDiskTrouble());
  for (auto entry : in.getWorkerAddresses())
    out.worker_addresses.push_back(
      {string_of(entry.getName()), entry.getWorkerId(), string_of(entry.getDataAddress())});
  for (auto worker : in.getWorkers()) out.workers.push_back(read(worker));
  for (auto job : in.getJobs()) out.jobs.push_back(read(job));
  for (auto save : in.getSaves()) {
    HEADRACE_ASSIGN(const auto view, read_save_view(save));
    out.saves.push_back(service::to_public(view));
  }
  out.tree = read_supervision(in);
  return out;
}

status await_service_workers(const std::string& dispatcher, size_t count, duration limit,
                             const session& with) {
  HEADRACE_ASSIGN(const auto known, service::named(dispatcher));
  const auto question = make_envelope(random_id(), [&](schema::Envelope::Builder b) {
    b.initDispatcher().setAwaitWorkers(static_cast<uint32_t>(count));
  });
  const auto how =
    service::call({known, with.state()}, {.limit = limit, .option = "limit"}, question);
  if (how.status().code() == status_code::deadline_exceeded)
    return deadline_exceeded(fmt::format("the service at {} had fewer than {} workers for {:.3g} s",
                                         known, count, in_seconds(limit)));
  return how.status();
}

} // namespace headrace
