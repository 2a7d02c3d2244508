#include "headrace/client/monitor/status_json.hpp"

#include "headrace/client/internal/verdict.hpp"
#include "headrace/client/internal/worker_demand.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <nlohmann/json.hpp>

namespace headrace::detail::monitor {
namespace {

nlohmann::json tree_json(const supervised& x) {
  auto children = nlohmann::json::array();
  for (const auto& child : x.children) children.push_back(tree_json(child));
  return {{"name", x.name},
          {"state", x.state},
          {"restarts", x.restarts},
          {"last_reason", x.last_reason},
          {"children", std::move(children)}};
}

nlohmann::json window_json(const window_status& x) {
  auto trainers = nlohmann::json::array();
  for (const auto& one : x.trainers)
    trainers.push_back(
      {{"trainer", one.id}, {"lag", one.lag}, {"skipped", one.skipped}, {"streams", one.streams}});
  return {{"first", x.first},   {"end", x.end},         {"bytes", x.bytes},    {"budget", x.budget},
          {"blocks", x.blocks}, {"encoded", x.encoded}, {"trainers", trainers}};
}

nlohmann::json operator_json(const operator_status& x) {
  return {{"name", x.name},
          {"depth", x.depth},
          {"in_function", x.in_function},
          {"calls", x.calls},
          {"rows_per_second", x.rows_per_second},
          {"bytes_per_second", x.bytes_per_second},
          {"busy", x.busy},
          {"input", x.input},
          {"output", x.output},
          {"lease", x.lease},
          {"storage", x.storage},
          {"memory", x.memory},
          {"queued", x.queued}};
}

nlohmann::json trainer_json(const trainer_status& x) {
  return {{"consumer", to_hex(x.consumer)},
          {"name", x.name},
          {"host", x.host},
          {"waited", x.waited < 0 ? nlohmann::json{} : nlohmann::json(x.waited)},
          {"elements_per_second", x.elements_per_second},
          {"bytes_per_second", x.bytes_per_second},
          {"elements", x.elements}};
}

nlohmann::json verdict_json(const verdict& x) {
  return {{"text", x.text},       {"cause", to_string(x.cause)},
          {"trainer", x.trainer}, {"waited", x.waited},
          {"what", x.what},       {"place", x.place ? nlohmann::json(*x.place) : nlohmann::json{}},
          {"share", x.share},     {"workers", x.workers},
          {"running", x.running}, {"wanted", x.wanted},
          {"queued", x.queued},   {"at_least", x.at_least}};
}

nlohmann::json task_json(const task_status& x) {
  nlohmann::json out{{"task", to_hex(x.task)}, {"worker", to_hex(x.worker)},
                     {"state", x.state},       {"elements", x.elements},
                     {"bytes", x.bytes},       {"elements_per_second", x.elements_per_second},
                     {"streams", x.streams},   {"restarts", x.restarts},
                     {"ignored", x.ignored},   {"window", nullptr}};
  if (x.window)
    out["window"] = window_json(*x.window);
  auto operators = nlohmann::json::array();
  for (const auto& one : x.operators) operators.push_back(operator_json(one));
  out["operators"] = std::move(operators);
  return out;
}

nlohmann::json rounds_json(const rounds_status& x) {
  auto tasks = nlohmann::json::array();
  for (auto id : x.tasks) tasks.push_back(to_hex(id));
  return {{"consumers", x.consumers},     {"missing", x.missing}, {"epoch", x.epoch},
          {"first_round", x.first_round}, {"round", x.round},     {"tasks", std::move(tasks)}};
}

nlohmann::json value_json(uint64_t x) { return x; }
nlohmann::json value_json(double x) { return x; }
nlohmann::json value_json(const histogram_counts& x) {
  return {{"bounds", x.bounds}, {"counts", x.counts}, {"sum", x.sum}};
}

nlohmann::json metrics_json(const std::vector<metric_sample>& all) {
  auto out = nlohmann::json::array();
  for (const auto& x : all)
    out.push_back(
      {{"name", x.name},
       {"kind", kind_of(x)},
       {"labels", x.labels},
       {"value", std::visit([](const auto& value) { return value_json(value); }, x.value)}});
  return out;
}

nlohmann::json save_json(const save_status& x) {
  return {{"save", to_hex(x.save)},
          {"path", x.path},
          {"dataset", x.dataset},
          {"state", x.state},
          {"pieces", x.pieces},
          {"written", x.written},
          {"elements", x.elements},
          {"bytes", x.bytes},
          {"workers", x.workers},
          {"failure", x.failure.ok() ? std::string{} : to_string(x.failure)},
          {"whole_because", x.whole_because}};
}

} // namespace

std::string status_json(const service_status& x) {
  auto workers = nlohmann::json::array();
  for (const auto& worker : x.workers)
    workers.push_back({{"worker", to_hex(worker.worker)},
                       {"address", worker.address},
                       {"tags", worker.tags},
                       {"pid", worker.pid},
                       {"alive", worker.alive},
                       {"state", state_of(worker)},
                       {"stuck_threads", worker.stuck_threads()},
                       {"refused_links", worker.refused_links()},
                       {"bad_messages", worker.bad_messages()},
                       {"since_heartbeat_seconds", in_seconds(worker.since_heartbeat)},
                       {"metrics", metrics_json(worker.metrics)}});
  auto worker_addresses = nlohmann::json::array();
  for (const auto& entry : x.worker_addresses)
    worker_addresses.push_back(
      {{"listed", entry.name},
       {"worker", entry.worker == 0 ? nlohmann::json{} : nlohmann::json{to_hex(entry.worker)}},
       {"address", entry.address},
       {"state", state_of(entry, x)}});
  auto jobs = nlohmann::json::array();
  for (const auto& job : x.jobs) {
    auto tasks = nlohmann::json::array();
    for (const auto& task : job.tasks) tasks.push_back(task_json(task));
    auto trainers = nlohmann::json::array();
    for (const auto& one : job.trainers) trainers.push_back(trainer_json(one));
    jobs.push_back({{"job", to_hex(job.job)},
                    {"name", job.name},
                    {"dataset", job.dataset},
                    {"processing_mode", job.processing_mode},
                    {"state", job.state},
                    {"repetition", job.repetition},
                    {"consumers", job.consumers},
                    {"failure", job.failure},
                    {"lost_tasks", job.lost_tasks},
                    {"lost_splits", job.lost_splits},
                    {"reread_splits", job.reread_splits},
                    {"lost_elements", job.lost_elements},
                    {"guarantee", job.guarantee},
                    {"repeated_splits", job.repeated_splits},
                    {"tasks", std::move(tasks)},
                    {"trainers", std::move(trainers)},
                    {"verdict", verdict_json(verdict_of(job, x))}});
    if (job.rounds)
      jobs.back()["rounds"] = rounds_json(*job.rounds);
  }
  auto saves = nlohmann::json::array();
  for (const auto& save : x.saves) saves.push_back(save_json(save));
  auto tree = nlohmann::json::array();
  for (const auto& one : x.tree) tree.push_back(tree_json(one));
  const auto wanted = workers_needed(x);
  nlohmann::json out{{"uptime_seconds", in_seconds(x.uptime)},
                     {"wanted_workers", wanted ? nlohmann::json(*wanted) : nlohmann::json{}},
                     {"datasets", x.datasets},
                     {"bad_messages", x.bad_messages()},
                     {"refused_peers", x.refused_peers()},
                     {"left_out", x.left_out},
                     {"work_dir", x.work_dir},
                     {"disk_trouble", x.disk_trouble},
                     {"worker_addresses", std::move(worker_addresses)},
                     {"workers", std::move(workers)},
                     {"jobs", std::move(jobs)},
                     {"saves", std::move(saves)},
                     {"tree", std::move(tree)},
                     {"metrics", metrics_json(x.metrics)}};
  // Names come from other processes. Without `replace`, `dump` throws for a name that is not UTF-8.
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace headrace::detail::monitor
