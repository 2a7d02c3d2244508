#include "headrace/client/internal/verdict.hpp"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <tuple>
#include <utility>

namespace headrace::detail {

namespace {

/// A worker counts as slow if its rate is less than this share of the other workers' median rate.
constexpr double slow_worker_share = 0.5;
/// If the other workers' median rate is below this, rates do not show which worker is slow, because
/// they are counted from too few rows.
constexpr double enough_rows_per_second = 8;
/// A worker counts as slow only if one cause, as found by `limit_of`, takes at least this share of
/// its time; otherwise the worker merely has too few rows to work on.
constexpr double slow_worker_works = 0.5;
/// `verdict::wanted` is at most this many times the number of running workers.
constexpr double most_growth = 4;
/// More workers are not needed if the busiest operator of each task is busy for at most this share
/// of the time, on average over the tasks.
constexpr double most_busy = 0.9;
/// More workers are needed if operators are busier than `most_busy` and trainers wait for more than
/// this share of the time. It is smaller than `hardly_waits`, a tenth: if trainers wait for a tenth
/// of the time and there are more than ten workers, more than one further worker is needed.
constexpr double small_wait = 0.05;

/// A cause: its kind, the name of its operator, and the index of the operator in the task's list.
using cause_key = std::tuple<slow_part, std::string, size_t>;

/// The cause that takes the largest share of a task's time.
struct limit {
  cause_key what;
  double share = 0;
  double queued = 0; ///< for an operator: the part of `share` in which calls waited for a thread
};

/// Finds the limit of one task.
/// @param waited the share of the time in which the trainer with the longest waits waited
limit limit_of(const task_status& task, double waited) {
  limit out;
  const auto consider = [&](slow_part kind, const std::string& name, size_t place, double share,
                            double queued = 0) {
    if (share > out.share)
      out = {{kind, name, place}, share, queued};
  };
  for (size_t i = 0; i < task.operators.size(); ++i) {
    const auto& x = task.operators[i];
    // Calls that wait for a thread show that the processor is the limit.
    consider(slow_part::op, x.name, i, x.busy + x.queued, x.queued);
    consider(slow_part::storage, x.name, i, x.storage);
    consider(slow_part::leases, {}, 0, x.lease);
    consider(slow_part::memory, x.name, i, x.memory);
  }
  if (task.operators.empty())
    return out;
  const auto ready = task.operators.front().output;
  // While the trainer does not wait (`1 - waited`), it is normal that ready rows wait for transfer.
  // So only the rest of the time in which rows are ready counts against the connections.
  consider(slow_part::link, {}, 0, ready - (1 - waited));
  if (out.share <= 0)
    consider(slow_part::link, {}, 0, ready);
  return out;
}

std::string name_of(const trainer_status& x, const job_status& in) {
  if (!x.name.empty())
    return x.host.empty() ? x.name : fmt::format("{} ({})", x.name, x.host);
  const auto id = fmt::format("{:x}", x.consumer);
  if (x.host.empty())
    return id;
  // One process may run several trainers of a job, which have the same `host`.
  const auto same = std::ranges::count_if(
    in.trainers, [&](const auto& one) { return one.name.empty() && one.host == x.host; });
  return same > 1 ? fmt::format("{} ({})", id, x.host) : x.host;
}

std::string ordinal(size_t n) {
  const auto last = n % 10;
  const bool teens = n % 100 >= 11 && n % 100 <= 13;
  return fmt::format("{}{}", n,
                     teens || last == 0 || last > 3 ? "th"
                     : last == 1                    ? "st"
                     : last == 2                    ? "nd"
                                                    : "rd");
}

/// The name of an operator, with its number if other operators in `in` have the same name.
std::string distinct_name(const std::string& name, size_t place,
                          const std::vector<operator_status>& in) {
  size_t all = 0, number = 0;
  for (size_t i = 0; i < in.size(); ++i)
    if (in[i].name == name) {
      ++all;
      number += i >= place;
    }
  return all < 2 ? name
                 : fmt::format("{} (the {} of {} from the source)", name, ordinal(number), all);
}

std::string address_of(uint64_t worker, const service_status& in) {
  const auto at = std::ranges::find(in.workers, worker, &worker_status::worker);
  return at == in.workers.end() ? fmt::format("{:x}", worker) : at->address;
}

/// The speed of each task: its rate of rows at the operator that gives most rows in all tasks
/// together, because the final rows may be too few to compare. Zeros if the tasks differ in their
/// numbers of operators.
std::vector<double> paces_of(const std::vector<const task_status*>& all) {
  const auto alike = std::ranges::all_of(
    all, [&](const auto* x) { return x->operators.size() == all.front()->operators.size(); });
  std::vector<double> out(all.size(), 0);
  if (!alike)
    return out;
  double most = 0;
  for (size_t i = 0; i < all.front()->operators.size(); ++i) {
    double sum = 0;
    for (const auto* x : all) sum += x->operators[i].rows_per_second;
    if (sum <= most)
      continue;
    most = sum;
    for (size_t k = 0; k < all.size(); ++k) out[k] = all[k]->operators[i].rows_per_second;
  }
  return out;
}

/// The task that is much slower than the others, if there is one.
const task_status* slow_one(const std::vector<const task_status*>& all, double waited) {
  if (all.size() < 2)
    return nullptr;
  const auto paces = paces_of(all);
  auto sorted = paces;
  std::ranges::sort(sorted);
  // The median pace of the other tasks.
  const auto others = sorted[1 + (sorted.size() - 1) / 2];
  if (others < enough_rows_per_second || sorted.front() >= slow_worker_share * others)
    return nullptr;
  const auto* out = all[static_cast<size_t>(std::ranges::min_element(paces) - paces.begin())];
  return limit_of(*out, waited).share >= slow_worker_works ? out : nullptr;
}

int percent(double x) { return static_cast<int>(std::lround(100 * x)); }

std::string cause_text(const verdict& x, const std::string& what) {
  const auto on = fmt::format("on {} worker{}", x.workers, x.workers == 1 ? "" : "s");
  switch (x.cause) {
  case slow_part::op:
    return fmt::format("{} {}, busy {} %{}", what, on, percent(x.share - x.queued),
                       x.queued < 0.05
                         ? std::string{}
                         : fmt::format(" and {} % waiting for a thread", percent(x.queued)));
  case slow_part::storage:
    return fmt::format("storage: {} {} waited for files {} % of the time", what, on,
                       percent(x.share));
  case slow_part::leases:
    return fmt::format("the dispatcher: tasks {} waited for splits {} % of the time", on,
                       percent(x.share));
  case slow_part::memory:
    return fmt::format("memory: {} {} could read nothing ahead {} % of the time "
                       "(autotune.ram_budget)",
                       what, on, percent(x.share));
  case slow_part::link:
    return fmt::format(
      "connections: tasks {} had rows ready {} % of the time while trainers waited", on,
      percent(x.share));
  case slow_part::worker:
    return fmt::format("worker {} gives less than {} % of what the others give", x.what,
                       percent(slow_worker_share));
  case slow_part::trainer: return fmt::format("trainer {}, for which the others wait", x.what);
  default: return "not known";
  }
}

/// @param operators the operators of the job, as `operators_of` lists them
void describe(verdict& x, const std::vector<operator_status>& operators) {
  if (x.cause == slow_part::unknown) {
    x.text = "nothing is known yet of the last seconds";
    return;
  }
  if (x.cause == slow_part::trainers) {
    x.text = fmt::format("trainers hardly wait ({} % of the last seconds): they are the limit",
                         percent(x.waited));
    if (x.wanted != 0 && x.wanted < x.running)
      x.text += fmt::format("; {} of {} workers would do", x.wanted, x.running);
    if (x.running != 0 && x.wanted > x.running)
      x.text += fmt::format("; with {} workers they would not wait", x.wanted);
    return;
  }
  x.text =
    fmt::format("trainer {} waited {} % of the last seconds; ", x.trainer, percent(x.waited));
  if (x.cause == slow_part::no_worker) {
    x.text += "no worker runs the job; start one";
    return;
  }
  x.text +=
    "cause: " + cause_text(x, x.place ? distinct_name(x.what, *x.place, operators) : x.what);
  if (x.wanted > x.running)
    x.text +=
      fmt::format("; {} workers {}", x.wanted, x.at_least ? "and more would help" : "would do");
}

} // namespace

std::string_view to_string(slow_part x) noexcept {
  switch (x) {
  case slow_part::unknown: return "unknown";
  case slow_part::trainers: return "trainers";
  case slow_part::trainer: return "trainer";
  case slow_part::op: return "operator";
  case slow_part::storage: return "storage";
  case slow_part::leases: return "leases";
  case slow_part::memory: return "memory";
  case slow_part::link: return "link";
  case slow_part::worker: return "worker";
  case slow_part::no_worker: return "no_worker";
  }
  return "unknown";
}

namespace {

/// Finds the cause in the reports of the tasks.
void blame_tasks(verdict& out, const std::vector<const task_status*>& running, double waited,
                 const service_status& in) {
  struct votes {
    double share = 0, queued = 0;
    uint32_t count = 0;
  };
  std::map<cause_key, votes> all;
  for (const auto* task : running) {
    const auto one = limit_of(*task, out.waited);
    auto& sum = all[one.what];
    sum.share += one.share;
    sum.queued += one.queued;
    ++sum.count;
  }
  const auto worst =
    std::ranges::max_element(all, {}, [](const auto& x) { return x.second.share; });
  size_t place = 0;
  std::tie(out.cause, out.what, place) = worst->first;
  out.workers = worst->second.count;
  out.share = worst->second.share / out.workers;
  out.queued = worst->second.queued / out.workers;
  const bool more_help = out.cause == slow_part::op || out.cause == slow_part::storage;
  const auto most_of_all = out.share;
  const auto* slow = slow_one(running, out.waited);
  if (slow == nullptr && !out.what.empty())
    out.place = place;
  if (slow != nullptr) {
    out.cause = slow_part::worker;
    out.what = address_of(slow->worker, in);
    out.workers = 1;
    out.share = limit_of(*slow, out.waited).share;
    out.queued = limit_of(*slow, out.waited).queued;
  }
  if (!more_help)
    return;
  // The number of workers with which no trainer would wait, if each of the workers spent all of its
  // time on the cause.
  const auto now = static_cast<double>(running.size());
  const auto wanted = std::ceil(now * most_of_all / std::max(1 - waited, 0.01) - 1e-9);
  // It is unknown how fast a trainer that nearly always waits could read: more may be needed.
  out.at_least = wanted > most_growth * now;
  out.wanted = static_cast<uint32_t>(out.at_least ? most_growth * now : wanted);
}

/// Sets `out.wanted` for a job whose trainers hardly wait: the number of workers that are enough.
void note_what_is_enough(verdict& out, const std::vector<const task_status*>& running,
                         double waited) {
  double work = 0;
  for (const auto* task : running) {
    double busiest = 0;
    for (const auto& x : task->operators) busiest = std::max(busiest, x.busy + x.queued);
    work += busiest;
  }
  const auto workers = [](double x) { return static_cast<uint32_t>(std::ceil(x - 1e-9)); };
  const auto takes = work / (1 - waited);
  if (waited > small_wait && work > most_busy * out.running)
    out.wanted = std::max(workers(takes), out.running);
  else
    out.wanted = std::clamp<uint32_t>(workers(takes / most_busy), 1, out.running);
}

} // namespace

verdict verdict_of(const job_status& job, const service_status& in) {
  verdict out;
  out.job = job.job;
  std::vector<const task_status*> running;
  bool any = false;
  for (const auto& task : job.tasks) {
    any |= task.state == "running" || task.state == "starting";
    if (task.state == "running" && !task.operators.empty())
      running.push_back(&task);
  }
  out.running = static_cast<uint32_t>(running.size());
  const trainer_status *most = nullptr, *least = nullptr;
  double sum = 0;
  size_t known = 0;
  for (const auto& x : job.trainers) {
    if (x.waited < 0)
      continue;
    ++known;
    sum += x.waited;
    if (most == nullptr || x.waited > most->waited)
      most = &x;
    if (least == nullptr || x.waited < least->waited)
      least = &x;
  }
  if (job.state == "running" && most != nullptr) {
    out.trainer = name_of(*most, job);
    out.waited = most->waited;
    const bool step_together = job.rounds.has_value();
    if (most->waited < hardly_waits) {
      out.cause = slow_part::trainers;
      if (!running.empty())
        note_what_is_enough(out, running, sum / static_cast<double>(known));
      else if (!any)
        out.wanted = 1; // no task runs or starts, so one worker is enough
    } else if (step_together && least->waited < hardly_waits) {
      out.cause = slow_part::trainer;
      out.what = name_of(*least, job);
    } else if (!any)
      out.cause = slow_part::no_worker, out.wanted = 1;
    else if (!running.empty())
      blame_tasks(out, running, sum / static_cast<double>(known), in);
  }
  const auto operators = operators_of(job);
  // `operators` has the operators of the first task. If the cause was found in tasks with other
  // operators, another operator may have the place `out.place` in `operators`.
  if (out.place && (*out.place >= operators.size() || operators[*out.place].name != out.what))
    out.place.reset();
  describe(out, operators);
  if (job.state != "running")
    out.text = fmt::format("the job is {}", job.state);
  return out;
}

std::vector<operator_status> operators_of(const job_status& job) {
  std::vector<operator_status> out;
  double tasks = 0;
  for (const auto& task : job.tasks) {
    const auto& all = task.operators;
    if (all.empty() || (!out.empty() && all.size() != out.size()))
      continue;
    ++tasks;
    if (out.empty()) {
      out = all;
      continue;
    }
    for (size_t i = 0; i < all.size(); ++i) {
      for (const auto field :
           {&operator_status::busy, &operator_status::input, &operator_status::output,
            &operator_status::lease, &operator_status::storage, &operator_status::memory,
            &operator_status::queued, &operator_status::rows_per_second,
            &operator_status::bytes_per_second})
        out[i].*field += all[i].*field;
    }
  }
  for (auto& x : out)
    for (const auto field :
         {&operator_status::busy, &operator_status::input, &operator_status::output,
          &operator_status::lease, &operator_status::storage, &operator_status::memory,
          &operator_status::queued})
      x.*field /= tasks;
  return out;
}

} // namespace headrace::detail
