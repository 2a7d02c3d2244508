#include "headrace/client/command/status_text.hpp"

#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/log/line.hpp"

#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace headrace::command {
namespace {

/// Text from others, such as names, in a form that cannot look like lines of the status, nor move
/// the cursor.
std::string shown(std::string_view x) {
  std::string out;
  append_text(out, x);
  return out;
}

/// 1234567 as `1.23M`.
std::string short_number(double x) {
  constexpr std::array units{"", "k", "M", "G", "T", "P"};
  size_t unit = 0;
  for (; x >= 1000 && unit + 1 < units.size(); ++unit) x /= 1000;
  return unit == 0 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}{}", x, units[unit]);
}

std::string stuck_text(uint32_t threads) {
  return threads == 0 ? std::string{}
                      : fmt::format("  ({} stuck thread{})", threads, threads == 1 ? "" : "s");
}

std::string bad_text(uint64_t messages) {
  return messages == 0 ? std::string{}
                       : fmt::format("  ({} bad message{})", messages, messages == 1 ? "" : "s");
}

std::string refused_text(const worker_status& x) {
  std::string out;
  for (const auto& [cause, count] : x.refused_links())
    out += fmt::format("{}{} {}", out.empty() ? "" : ", ", count, cause);
  return out.empty() ? out : "  (refused links: " + out + ")";
}

std::string or_dash(const std::string& x) { return x.empty() ? "-" : x; }

void write_tree(std::string& out, const supervised& x, const std::string& indent, bool last) {
  out += fmt::format("{}{}{}  {}", indent, last ? "`- " : "|- ", shown(x.name), shown(x.state));
  if (x.restarts != 0)
    out += fmt::format(", restarted {} time{}", x.restarts, x.restarts == 1 ? "" : "s");
  if (!x.last_reason.empty())
    out += fmt::format(", last because: {}", shown(x.last_reason));
  out += '\n';
  for (size_t i = 0; i < x.children.size(); ++i)
    write_tree(out, x.children[i], indent + (last ? "   " : "|  "), i + 1 == x.children.size());
}

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

nlohmann::json task_json(const task_status& x) {
  nlohmann::json out{{"task", to_hex(x.task)}, {"worker", to_hex(x.worker)},
                     {"state", x.state},       {"elements", x.elements},
                     {"bytes", x.bytes},       {"elements_per_second", x.elements_per_second},
                     {"streams", x.streams},   {"restarts", x.restarts},
                     {"ignored", x.ignored},   {"window", nullptr}};
  if (x.window)
    out["window"] = window_json(*x.window);
  return out;
}

std::string window_text(const window_status& x) {
  const auto bytes = [](uint64_t n) { return short_number(static_cast<double>(n)); };
  auto out =
    fmt::format("    cache: {} of {} bytes, elements {} to {}, {} blocks made, {} encoded\n",
                bytes(x.bytes), bytes(x.budget), x.first, x.end, x.blocks, x.encoded);
  for (const auto& one : x.trainers)
    out += fmt::format("      trainer {}: {} behind, {} skipped{}\n", one.id, one.lag, one.skipped,
                       one.streams == 0 ? ", away" : "");
  return out;
}

std::string rounds_text(const rounds_status& x) {
  auto out = fmt::format("  rounds: {} consumers", x.consumers);
  if (!x.missing.empty())
    out += fmt::format(", missing {}", fmt::join(x.missing, ", "));
  if (x.epoch == 0)
    return out + ", none has begun\n";
  return out
         + fmt::format(", at round {}, of {} tasks since round {} (epoch {})\n", x.round,
                       x.tasks.size(), x.first_round, x.epoch);
}

nlohmann::json rounds_json(const rounds_status& x) {
  auto tasks = nlohmann::json::array();
  for (auto id : x.tasks) tasks.push_back(to_hex(id));
  return {{"consumers", x.consumers},     {"missing", x.missing}, {"epoch", x.epoch},
          {"first_round", x.first_round}, {"round", x.round},     {"tasks", std::move(tasks)}};
}

std::string save_text(const save_status& x) {
  const auto bytes = short_number(static_cast<double>(x.bytes));
  auto out = fmt::format(
    "\nsave {:x}: {}, {} of {} pieces, {} elements, {} bytes, {} worker{}, dataset {}, in {}\n",
    x.save, x.state, x.written, x.pieces == 0 ? "?" : std::to_string(x.pieces), x.elements, bytes,
    x.workers, x.workers == 1 ? "" : "s", shown(x.dataset), shown(x.path));
  if (!x.whole_because.empty())
    out += fmt::format("  by one worker: {}\n", shown(x.whole_because));
  if (!x.failure.ok())
    out += fmt::format("  failed: {}\n", shown(to_string(x.failure)));
  return out;
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

std::string status_text(const service_status& x) {
  auto out = fmt::format(
    "up {:.0f} s, {} datasets, {} workers, {} jobs, {} bad messages, {} refused peers\n",
    in_seconds(x.uptime), x.datasets, x.workers.size(), x.jobs.size(), x.bad_messages(),
    x.refused_peers());
  if (!x.work_dir.empty())
    out += "kept in: " + shown(x.work_dir) + "\n";
  if (!x.disk_trouble.empty())
    out += "nothing new is begun: " + shown(x.disk_trouble) + "\n";
  if (!x.left_out.empty())
    out += "left out: " + x.left_out + "\n";
  if (!x.workers.empty())
    out += fmt::format("\n{:<18}{:<24}{:<8}{:<10}{:<10}{}\n", "WORKER", "ADDRESS", "PID", "STATE",
                       "HEARTBEAT", "TAGS");
  for (const auto& worker : x.workers)
    out += fmt::format("{:<18x}{:<24}{:<8}{:<10}{:<10}{}\n", worker.worker, shown(worker.address),
                       worker.pid, state_of(worker),
                       fmt::format("{:.1f} s", in_seconds(worker.since_heartbeat)),
                       or_dash(shown(fmt::format("{}", fmt::join(worker.tags, ","))))
                         + stuck_text(worker.stuck_threads()) + bad_text(worker.bad_messages())
                         + refused_text(worker));
  if (!x.worker_addresses.empty())
    out +=
      fmt::format("\n{:<6}{:<24}{:<18}{:<24}{}\n", "SHARD", "LISTED", "WORKER", "ADDRESS", "STATE");
  for (size_t i = 0; i < x.worker_addresses.size(); ++i) {
    const auto& entry = x.worker_addresses[i];
    out += fmt::format("{:<6}{:<24}{:<18}{:<24}{}\n", i, shown(entry.name),
                       entry.worker == 0 ? "-" : fmt::format("{:x}", entry.worker),
                       or_dash(shown(entry.address)), state_of(entry, x));
  }
  for (const auto& job : x.jobs) {
    out += fmt::format("\njob {:x} {}: {}, {}, repetition {}, {} consumers, dataset {}\n", job.job,
                       job.name.empty() ? "(anonymous)" : shown(job.name), job.state,
                       job.processing_mode, job.repetition, job.consumers, shown(job.dataset));
    if (!job.failure.empty())
      out += fmt::format("  failed: {}\n", shown(job.failure));
    if (job.rounds)
      out += rounds_text(*job.rounds);
    if (job.lost_tasks != 0)
      out += fmt::format("  lost: {} tasks, with rows of up to {} splits\n", job.lost_tasks,
                         job.lost_splits);
    if (job.lost_elements != 0)
      out += fmt::format("  lost: up to {} elements that a trainer held when it was gone, as their "
                         "workers were\n",
                         job.lost_elements);
    if (job.reread_splits != 0)
      out += fmt::format(
        "  read again: {} splits of tasks that were lost{}\n", job.reread_splits,
        job.repeated_splits == 0
          ? ""
          : fmt::format(", {} of which may have been handed out in part", job.repeated_splits));
    if (!job.tasks.empty())
      out +=
        fmt::format("  {:<18}{:<18}{:<10}{:>10}{:>12}{:>10}{:>9}{:>9}{:>10}\n", "TASK", "WORKER",
                    "STATE", "ELEMENTS", "ELEMENTS/S", "BYTES", "IGNORED", "STREAMS", "RESTARTS");
    for (const auto& task : job.tasks) {
      out += fmt::format(
        "  {:<18x}{:<18x}{:<10}{:>10}{:>12}{:>10}{:>9}{:>9}{:>10}\n", task.task, task.worker,
        task.state, task.elements, short_number(task.elements_per_second),
        short_number(static_cast<double>(task.bytes)), task.ignored, task.streams, task.restarts);
      if (task.window)
        out += window_text(*task.window);
    }
  }
  for (const auto& save : x.saves) out += save_text(save);
  if (!x.tree.empty())
    out += "\nsupervision\n";
  for (size_t i = 0; i < x.tree.size(); ++i) write_tree(out, x.tree[i], "", i + 1 == x.tree.size());
  return out;
}

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
                    {"tasks", std::move(tasks)}});
    if (job.rounds)
      jobs.back()["rounds"] = rounds_json(*job.rounds);
  }
  auto saves = nlohmann::json::array();
  for (const auto& save : x.saves) saves.push_back(save_json(save));
  auto tree = nlohmann::json::array();
  for (const auto& one : x.tree) tree.push_back(tree_json(one));
  nlohmann::json out{{"uptime_seconds", in_seconds(x.uptime)},
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
  // Names come from other processes: those that are not UTF-8 must not end this one.
  return out.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

} // namespace headrace::command
