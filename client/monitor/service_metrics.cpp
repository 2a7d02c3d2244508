#include "headrace/client/monitor/service_metrics.hpp"

#include "headrace/client/internal/verdict.hpp"
#include "headrace/client/internal/worker_demand.hpp"
#include "headrace/client/monitor/counted_metrics.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

namespace headrace::detail::monitor {

namespace {

// -- the metrics ------------------------------------------------------------------------

namespace service_metric {
constexpr gauge_info uptime{
  {"headrace_uptime_seconds", "seconds", "Time since the dispatcher began."}};
constexpr gauge_info datasets{{"headrace_datasets", "", "Registered datasets."}};
constexpr gauge_info workers{{"headrace_workers", "", "Workers, by state."}};
constexpr gauge_info heartbeat_age{
  {"headrace_worker_heartbeat_age_seconds", "seconds", "Time since a worker's last heartbeat."}};
constexpr gauge_info wanted{
  {"headrace_wanted_workers", "",
   "Workers that the running jobs need; as many as there are while that is not known."}};
constexpr gauge_info disk_trouble{
  {"headrace_disk_trouble", "",
   "1 while nothing new is begun, as the work directory cannot be written."}};
} // namespace service_metric

namespace job_metric {
constexpr gauge_info jobs{{"headrace_jobs", "", "Jobs, by state."}};
constexpr gauge_info cause{
  {"headrace_job_cause", "", "1 for what bounds the rate of a job's trainers at present."}};
constexpr gauge_info wanted{
  {"headrace_job_wanted_workers", "",
   "Workers with which no trainer of the job would wait; 0: more would not help."}};
constexpr gauge_info lost_splits{
  {"headrace_job_lost_splits", "", "Splits of the repetition of which rows may be missing."}};
constexpr gauge_info lost_elements{
  {"headrace_job_lost_elements", "", "Elements of the repetition that went with lost trainers."}};
constexpr gauge_info reread_splits{
  {"headrace_job_reread_splits", "", "Splits of the repetition that were read again."}};
constexpr gauge_info round{
  {"headrace_job_round", "", "Of coordinated reads: the next round of the foremost consumer."}};
constexpr gauge_info missing{
  {"headrace_job_missing_consumers", "", "Of coordinated reads: consumers that are missing."}};
} // namespace job_metric

namespace task_metric {
constexpr counter_info elements{{"headrace_task_elements", "", "Elements that a task produced."}};
constexpr counter_info bytes{
  {"headrace_task_bytes", "bytes", "Bytes in the elements that a task produced."}};
constexpr counter_info ignored{{"headrace_task_ignored_elements", "",
                                "Elements that failed and were left out by ignore_errors."}};
constexpr counter_info restarts{{"headrace_task_restarts", "", "Restarts of a task's runner."}};
constexpr gauge_info streams{{"headrace_task_streams", "", "Streams that a task serves."}};
} // namespace task_metric

namespace operator_metric {
constexpr gauge_info time{{"headrace_operator_time_ratio", "ratio",
                           "What an operator's time in the last seconds went into; the sum is 1."}};
constexpr gauge_info rows{
  {"headrace_operator_rows_per_second", "", "Rows that an operator gave in the last seconds."}};
constexpr gauge_info calls{
  {"headrace_operator_calls", "", "Calls of an operator that may run at a time."}};
} // namespace operator_metric

namespace trainer_metric {
constexpr gauge_info waited{{"headrace_trainer_waited_ratio", "ratio",
                             "Share of the last seconds in which a trainer waited for elements."}};
constexpr counter_info elements{
  {"headrace_trainer_elements", "", "Elements that a trainer was handed."}};
} // namespace trainer_metric

namespace cache_metric {
constexpr gauge_info bytes{
  {"headrace_cache_window_bytes", "bytes", "Bytes of the window of a task."}};
constexpr gauge_info budget{
  {"headrace_cache_budget_bytes", "bytes", "Bytes that all windows of a worker may take."}};
constexpr gauge_info lag{
  {"headrace_cache_trainer_lag_elements", "",
   "Elements that were made and that a trainer was neither handed nor skipped."}};
constexpr counter_info skipped{{"headrace_cache_trainer_skipped_elements", "",
                                "Elements that left a window before a trainer was handed them."}};
} // namespace cache_metric

namespace save_metric {
constexpr gauge_info pieces{{"headrace_save_pieces", "", "Pieces of a save; 0 until it is known."}};
constexpr gauge_info written{{"headrace_save_written_pieces", "", "Pieces that are written."}};
constexpr gauge_info bytes{{"headrace_save_bytes", "bytes", "Bytes of the written pieces."}};
} // namespace save_metric

constexpr std::array gauges{&service_metric::uptime,    &service_metric::datasets,
                            &service_metric::workers,   &service_metric::heartbeat_age,
                            &service_metric::wanted,    &service_metric::disk_trouble,
                            &job_metric::jobs,          &job_metric::cause,
                            &job_metric::wanted,        &job_metric::lost_splits,
                            &job_metric::lost_elements, &job_metric::reread_splits,
                            &job_metric::round,         &job_metric::missing,
                            &task_metric::streams,      &operator_metric::time,
                            &operator_metric::rows,     &operator_metric::calls,
                            &trainer_metric::waited,    &cache_metric::bytes,
                            &cache_metric::budget,      &cache_metric::lag,
                            &save_metric::pieces,       &save_metric::written,
                            &save_metric::bytes};
constexpr std::array counters{&task_metric::elements,    &task_metric::bytes,
                              &task_metric::ignored,     &task_metric::restarts,
                              &trainer_metric::elements, &cache_metric::skipped};

// -- the values of the metrics ----------------------------------------------------------------

class collector {
public:
  explicit collector(metric_families& to) : to_(to) {}

  void add(const counter_info& what, metric_labels labels, uint64_t value) {
    put(what, std::move(labels), value);
  }
  void add(const gauge_info& what, metric_labels labels, double value) {
    put(what, std::move(labels), value);
  }
  template <class T>
  requires std::is_integral_v<T>
  void add(const gauge_info& what, metric_labels labels, T value) {
    put(what, std::move(labels), static_cast<double>(value));
  }

private:
  template <class T>
  void put(const metric_info& what, metric_labels labels, T value) {
    to_.at(std::string{what.name})
      .samples.push_back({std::string{what.name}, std::move(labels), value});
  }
  metric_families& to_;
};

std::string address_of(uint64_t worker, const service_status& in) {
  for (const auto& x : in.workers)
    if (x.worker == worker)
      return x.address;
  return to_hex(worker);
}

std::string name_of(const job_status& x) { return x.name.empty() ? to_hex(x.job) : x.name; }

void add_task(collector& to, const task_status& x, const metric_labels& of) {
  to.add(task_metric::elements, of, x.elements);
  to.add(task_metric::bytes, of, x.bytes);
  to.add(task_metric::ignored, of, x.ignored);
  to.add(task_metric::restarts, of, uint64_t{x.restarts});
  to.add(task_metric::streams, of, x.streams);
  for (size_t i = 0; i < x.operators.size(); ++i) {
    const auto& one = x.operators[i];
    auto labels = of;
    labels["operator"] = one.name;
    labels["number"] = std::to_string(i);
    to.add(operator_metric::rows, labels, one.rows_per_second);
    to.add(operator_metric::calls, labels, one.calls);
    for (const auto& [state, share] : {std::pair{"busy", one.busy},
                                       {"input", one.input},
                                       {"output", one.output},
                                       {"lease", one.lease},
                                       {"storage", one.storage},
                                       {"memory", one.memory},
                                       {"queued", one.queued}}) {
      labels["state"] = state;
      to.add(operator_metric::time, labels, share);
    }
  }
  if (!x.window)
    return;
  to.add(cache_metric::bytes, of, x.window->bytes);
  to.add(cache_metric::budget, of, x.window->budget);
  for (const auto& one : x.window->trainers) {
    auto labels = of;
    labels["trainer"] = one.id;
    to.add(cache_metric::lag, labels, one.lag);
    to.add(cache_metric::skipped, labels, one.skipped);
  }
}

void add_job(collector& to, const job_status& x, const service_status& in) {
  const metric_labels job{{"job", name_of(x)}, {"id", to_hex(x.job)}};
  const auto now = verdict_of(x, in);
  auto cause = job;
  cause["cause"] = to_string(now.cause);
  cause["what"] = now.what;
  to.add(job_metric::cause, cause, 1);
  to.add(job_metric::wanted, job, now.wanted);
  to.add(job_metric::lost_splits, job, x.lost_splits);
  to.add(job_metric::lost_elements, job, x.lost_elements);
  to.add(job_metric::reread_splits, job, x.reread_splits);
  if (x.rounds) {
    to.add(job_metric::round, job, x.rounds->round);
    to.add(job_metric::missing, job, x.rounds->missing.size());
  }
  for (const auto& task : x.tasks) {
    auto labels = job;
    labels["task"] = to_hex(task.task);
    labels["worker"] = address_of(task.worker, in);
    add_task(to, task, labels);
  }
  for (const auto& one : x.trainers) {
    auto labels = job;
    labels["trainer"] = one.name.empty() ? to_hex(one.consumer) : one.name;
    labels["host"] = one.host;
    labels["consumer"] = to_hex(one.consumer);
    if (one.waited >= 0)
      to.add(trainer_metric::waited, labels, one.waited);
    to.add(trainer_metric::elements, labels, one.elements);
  }
}

} // namespace

metric_families described_metrics() {
  metric_families out;
  const auto describe = [&](const metric_info& what, const char* kind) {
    out[std::string{what.name}] = {kind, std::string{what.unit}, std::string{what.help}, {}};
  };
  for (const auto* x : gauges) describe(*x, "gauge");
  for (const auto* x : counters) describe(*x, "counter");
  return out;
}

metric_families metrics_of(const service_status& x) {
  auto out = described_metrics();
  collector to{out};
  to.add(service_metric::uptime, {}, in_seconds(x.uptime));
  to.add(service_metric::datasets, {}, x.datasets);
  to.add(service_metric::wanted, {},
         workers_needed(x).value_or(
           static_cast<uint32_t>(std::ranges::count_if(x.workers, &worker_status::alive))));
  to.add(service_metric::disk_trouble, {}, x.disk_trouble.empty() ? 0 : 1);
  std::map<std::string, uint64_t> workers{{"alive", 0}, {"draining", 0}, {"left", 0}, {"lost", 0}};
  for (const auto& one : x.workers) {
    ++workers[std::string{state_of(one)}];
    if (one.alive)
      to.add(service_metric::heartbeat_age, {{"worker", one.address}},
             in_seconds(one.since_heartbeat));
  }
  for (const auto& [state, count] : workers)
    to.add(service_metric::workers, {{"state", state}}, count);
  std::map<std::string, uint64_t> jobs{{"running", 0}, {"finished", 0}, {"failed", 0}};
  for (const auto& one : x.jobs) ++jobs[one.state];
  for (const auto& [state, count] : jobs) to.add(job_metric::jobs, {{"state", state}}, count);
  for (const auto& one : x.jobs) add_job(to, one, x);
  for (const auto& one : x.saves) {
    const metric_labels labels{
      {"save", to_hex(one.save)}, {"path", one.path}, {"state", one.state}};
    to.add(save_metric::pieces, labels, one.pieces);
    to.add(save_metric::written, labels, one.written);
    to.add(save_metric::bytes, labels, one.bytes);
  }
  add_samples(out, x.metrics);
  for (const auto& one : x.workers)
    if (one.alive)
      add_samples(out, one.metrics, {{"worker", one.address}});
  for (const auto& [what, kind] : counted_metrics())
    if (const auto at = out.find(std::string{what.name});
        at != out.end() && at->second.kind == kind) {
      at->second.unit = what.unit;
      at->second.help = what.help;
    }
  return out;
}

} // namespace headrace::detail::monitor
