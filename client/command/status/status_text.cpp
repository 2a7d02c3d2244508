#include "headrace/client/command/status/status_text.hpp"

#include "headrace/client/internal/verdict.hpp"
#include "headrace/runtime/log/line.hpp"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace headrace::detail::command {
namespace {

/// Text from other processes, such as names, in a form that cannot be mistaken for lines of the
/// status and cannot move the cursor.
std::string shown(std::string_view x) {
  std::string out;
  append_text(out, x);
  return out;
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

std::string percent(double x) { return fmt::format("{:.0f}%", 100 * x); }

std::string trainers_text(const std::vector<trainer_status>& all) {
  if (all.empty())
    return {};
  auto out = fmt::format("  {:<26}{:<26}{:>8}{:>12}{:>10}{:>10}\n", "TRAINER", "PROCESS", "WAITED",
                         "ELEMENTS/S", "BYTES/S", "ELEMENTS");
  for (const auto& x : all)
    out += fmt::format("  {:<26}{:<26}{:>8}{:>12}{:>10}{:>10}\n",
                       x.name.empty() ? fmt::format("{:x}", x.consumer) : shown(x.name),
                       or_dash(shown(x.host)), x.waited < 0 ? "-" : percent(x.waited),
                       short_number(x.elements_per_second), short_number(x.bytes_per_second),
                       x.elements);
  return out;
}

std::string operators_text(const job_status& job) {
  const auto all = operators_of(job);
  if (all.empty())
    return {};
  size_t width = 8;
  for (const auto& x : all) width = std::max(width, 2 * x.depth + shown(x.name).size());
  auto out = fmt::format("  {:<{}}{:>7}{:>8}{:>7}{:>8}{:>7}{:>9}{:>8}{:>7}{:>9}\n", "OPERATOR",
                         width + 2, "BUSY", "QUEUED", "INPUT", "OUTPUT", "LEASE", "STORAGE",
                         "MEMORY", "CALLS", "ROWS/S");
  for (const auto& x : all)
    out +=
      fmt::format("  {:<{}}{:>7}{:>8}{:>7}{:>8}{:>7}{:>9}{:>8}{:>7.3g}{:>9}\n",
                  std::string(2 * x.depth, ' ') + shown(x.name), width + 2, percent(x.busy),
                  percent(x.queued), percent(x.input), percent(x.output), percent(x.lease),
                  percent(x.storage), percent(x.memory), x.calls, short_number(x.rows_per_second));
  return out;
}

} // namespace

std::string short_number(double x) {
  constexpr std::array units{"", "k", "M", "G", "T", "P"};
  size_t unit = 0;
  for (; x >= 1000 && unit + 1 < units.size(); ++unit) x /= 1000;
  return unit == 0 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}{}", x, units[unit]);
}

std::string verdicts_text(const service_status& x) {
  std::string out;
  for (const auto& job : x.jobs)
    if (const auto now = verdict_of(job, x); now.cause != slow_part::unknown)
      out += fmt::format("{}: {}\n",
                         job.name.empty() ? fmt::format("job {:x}", job.job) : shown(job.name),
                         shown(now.text));
  return out;
}

std::string status_text(const service_status& x) {
  auto out = fmt::format(
    "up {:.0f} s, {} datasets, {} workers, {} jobs, {} bad messages, {} refused peers\n",
    in_seconds(x.uptime), x.datasets, x.workers.size(), x.jobs.size(), x.bad_messages(),
    x.refused_peers());
  out += verdicts_text(x);
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
    out += trainers_text(job.trainers);
    out += operators_text(job);
  }
  for (const auto& save : x.saves) out += save_text(save);
  if (!x.tree.empty())
    out += "\nsupervision\n";
  for (size_t i = 0; i < x.tree.size(); ++i) write_tree(out, x.tree[i], "", i + 1 == x.tree.size());
  return out;
}

} // namespace headrace::detail::command
