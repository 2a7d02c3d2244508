#include "headrace/actors/dispatcher/dispatcher_core.hpp"
#include "headrace/pipeline/graph/read_again.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/iterator/counter_random.hpp"
#include "headrace/pipeline/makers/auto_shard.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace headrace::detail {

// This file finds the job that a consumer's request is for, and begins and ends jobs.

namespace {

/// The most failed jobs whose reasons are kept.
constexpr size_t most_failed_jobs = 100;

/// Not ok for rounds of several consumers if `targets`, resolved from those of `asked`, are LOCAL.
status can_coordinate_across(const job_parameters& asked, target_workers targets) {
  if (asked.num_consumers < 2 || targets != target_workers::local)
    return {};
  return invalid_argument(fmt::format(
    "coordinated reads (consumer_index, num_consumers): in each round all consumers "
    "read from one worker, and in this dispatcher's COLOCATED deployment target_workers "
    "AUTO is LOCAL with processing mode {}: request target_workers ANY",
    to_string(asked.mode)));
}

} // namespace

dispatcher_commands dispatcher_core::open_iteration(request_token request,
                                                    const detail::open_iteration& wanted) {
  if (auto how = check_job_name(wanted.job_name); !how) {
    answer(request, std::move(how));
    return finish();
  }
  if (!wanted.job && answer_ended(request, wanted))
    return finish();
  auto job = wanted.job ? result<job_id>{wanted.job} : find_or_begin_job(wanted);
  if (job)
    pass_on(request, *job, wanted.repetition);
  else
    answer(request, job.status());
  return finish();
}

bool dispatcher_core::answer_ended(request_token request, const detail::open_iteration& wanted) {
  if (wanted.job_name.empty())
    return false;
  const auto key = key_of(wanted);
  const auto* ended = key ? record_.ended(*key) : nullptr;
  if (ended == nullptr || !ended->past.covers(wanted.repetition))
    return false;
  iteration_view out{
    .job = ended->last,
    .repetition = wanted.repetition,
    .version = std::numeric_limits<uint64_t>::max(),
    .finished = true,
    .shared = true,
    .timing = reader_timing(terms_.timing, terms_.jobs),
    .over_before = true,
  };
  if (ended->past.has_failed(wanted.repetition))
    out.failure = aborted(fmt::format("repetition {} of job '{}' failed before this iteration "
                                      "began; another job_name begins anew",
                                      wanted.repetition, wanted.job_name));
  say(log_level::info, "an iteration of a job that is over was asked for",
      {{"name", wanted.job_name}, {"repetition", wanted.repetition}});
  answer(request, std::move(out));
  return true;
}

dispatcher_commands dispatcher_core::for_job(request_token request, job_id job) {
  pass_on(request, job, {});
  return finish();
}

void dispatcher_core::pass_on(request_token request, job_id job, std::optional<uint64_t> opens) {
  if (running_.contains(job))
    todo_.push_back(dispatcher_command::to_job{job, request});
  else if (record_.jobs().contains(job))
    held_[job].push_back({request, opens});
  else
    answer(request, without_job(job, opens));
}

dispatcher_core::answer_value dispatcher_core::without_job(job_id id,
                                                           std::optional<uint64_t> opens) const {
  const auto failed = std::ranges::find(failed_jobs_, id, &std::pair<job_id, status>::first);
  if (failed == failed_jobs_.end() && record_.was_collected(id))
    return not_found(fmt::format(
      "job {:x} was collected: nobody read it for {:.0f} s (the dispatcher's job_gc_timeout_ms, "
      "--job-gc-timeout), so that what it had not given is gone",
      id.value, in_seconds(terms_.jobs.gc_timeout.value_or(duration{}))));
  if (failed == failed_jobs_.end())
    return not_found(fmt::format("there is no job {:x} (any more); a dispatcher that was started "
                                 "again knows its jobs if it has a --work-dir",
                                 id.value));
  auto why = failed->second.with_context(fmt::format("job {:x} failed", id.value));
  if (!opens)
    return why;
  // The answer is a view with the job's failure, because a consumer repeats a request that fails
  // with `unavailable`, which may be the code of the job's failure.
  return iteration_view{
    .job = id,
    .repetition = *opens,
    .version = std::numeric_limits<uint64_t>::max(),
    .finished = true,
    .failure = std::move(why),
    .timing = reader_timing(terms_.timing, terms_.jobs),
  };
}

result<std::string> dispatcher_core::key_of(const detail::open_iteration& wanted) const {
  // An anonymous job belongs to one consumer; a repeated request of that consumer finds it again.
  if (wanted.job_name.empty())
    return fmt::format("consumer {}", wanted.consumer.value);
  // Datasets of iterations are identified by their graphs, so that iterations over equal graphs
  // share a job. A registered dataset is identified by its id, whatever other ids its graph has.
  if (wanted.dataset)
    return fmt::format("named {} {}", wanted.job_name, wanted.dataset->fingerprint);
  HEADRACE_ASSIGN(const auto* dataset, record_.datasets().find(wanted.dataset_id));
  if (record_.is_for_iteration(wanted.dataset_id))
    return fmt::format("named {} {}", wanted.job_name, dataset->fingerprint);
  return fmt::format("dataset {} {} named {}", wanted.dataset_id.size(), wanted.dataset_id,
                     wanted.job_name);
}

result<std::string> dispatcher_core::dataset_of(const detail::open_iteration& wanted) {
  if (!wanted.dataset)
    return wanted.dataset_id;
  auto dataset = *wanted.dataset;
  dataset.id.clear();
  dataset.for_iteration = true;
  HEADRACE_ASSIGN(auto known, enroll(std::move(dataset)));
  return std::move(known.id);
}

result<job_description> dispatcher_core::describe(const service_record::job& job) const {
  HEADRACE_ASSIGN(const auto* dataset, record_.datasets().find(job.dataset_id));
  HEADRACE_ASSIGN(const auto graph, decode_graph(dataset->graph));
  const auto& roster = terms_.roster;
  if (is_static(job.parameters.mode) && roster.size() != job.shards)
    return failed_precondition(fmt::format(
      "job '{}' shares its dataset among the {} worker_addresses that this dispatcher had; it was "
      "started again with {}",
      job.name, job.shards, roster.size()));
  // Errors of the graph are reported here once, instead of by each worker.
  HEADRACE_TRY(
    auto_shard(graph, job.parameters.mode, {.shards = std::max<int64_t>(job.shards, 1)}).status());
  HEADRACE_TRY(can_promise(job.parameters.guarantee, job.parameters.mode, *graph));
  auto plan = plan_splits(graph);
  // Trainers of a cache receive the rows of a split at different times, and consumers of rounds
  // receive different rows of it. So a row that one of them received does not show which rows of
  // the split the others have received.
  if (job.parameters.cross_trainer_cache || job.parameters.num_consumers != 0)
    plan.rows.apart = plan.rows.single = false;
  return job_description{
    .id = job.id,
    .name = job.name,
    .dataset_id = job.dataset_id,
    .policy = job.parameters.mode,
    .graph = dataset->graph,
    .fingerprint = dataset->fingerprint,
    .plan = std::move(plan),
    .timing = terms_.timing,
    .terms = terms_.jobs,
    .start_timeout = terms_.start_timeout,
    .past = job.past,
    .worker_addresses =
      is_static(job.parameters.mode) ? roster.names() : std::vector<std::string>{},
    .guarantee = job.parameters.guarantee,
    .targets = job.targets,
    .cache = job.parameters.cross_trainer_cache,
    .num_consumers = job.parameters.num_consumers,
  };
}

status dispatcher_core::may_read(const detail::open_iteration& wanted,
                                 const std::string& dataset_id) const {
  if (!wanted.parameters.cross_trainer_cache && wanted.parameters.num_consumers == 0)
    return {};
  HEADRACE_ASSIGN(const auto* dataset, record_.datasets().find(dataset_id));
  HEADRACE_ASSIGN(const auto graph, decode_graph(dataset->graph));
  HEADRACE_TRY(can_coordinate(
    wanted.parameters,
    {.named = !wanted.job_name.empty(), .finite = graph->cardinality >= 0, .index = wanted.index}));
  return can_cache(wanted.parameters, {.named = !wanted.job_name.empty(),
                                       .infinite = graph->cardinality == infinite_cardinality,
                                       .repetition = wanted.repetition});
}

result<job_id> dispatcher_core::find_or_begin_job(const detail::open_iteration& wanted) {
  HEADRACE_ASSIGN(const auto key, key_of(wanted));
  if (const auto* found = record_.job_of(key)) {
    HEADRACE_TRY(may_share(wanted.job_name, found->parameters, wanted.parameters));
    HEADRACE_TRY(may_read(wanted, found->dataset_id));
    HEADRACE_TRY(can_coordinate_across(wanted.parameters, found->targets));
    const auto id = found->id;
    if (record_.may_join(id, wanted.dataset_id))
      commit(service_record::job_joined{id, wanted.dataset_id});
    return id;
  }
  if (!disk_)
    return disk_.with_context("no job is begun now");
  if (is_static(wanted.parameters.mode) && terms_.roster.empty())
    return failed_precondition(fmt::format(
      "processing mode {} gives each worker of a fixed list its own part, and this dispatcher has "
      "no list: start it with worker_addresses (`headrace dispatcher --worker-addresses "
      "HOST[:PORT],...`), or use OFF or DYNAMIC",
      to_string(wanted.parameters.mode)));
  HEADRACE_ASSIGN(const auto dataset_id, dataset_of(wanted));
  HEADRACE_TRY(may_read(wanted, dataset_id));
  const auto targets =
    resolved(wanted.parameters.targets, wanted.parameters.mode, terms_.deployment);
  HEADRACE_TRY(can_coordinate_across(wanted.parameters, targets));
  // Ids are random, so that a dispatcher that lost its state gives no job the id of an earlier one.
  // They have 53 bits, so that they are exact where JSON numbers are read as floating point.
  const job_id id{detail::mix(entropy_, drawn_++) >> 11 | 1};
  service_record::job fresh{.id = id,
                            .name = wanted.job_name,
                            .dataset_id = dataset_id,
                            .parameters = wanted.parameters,
                            .key = key,
                            .targets = targets};
  if (is_static(wanted.parameters.mode))
    fresh.shards = terms_.roster.size();
  if (const auto* ended = wanted.job_name.empty() ? nullptr : record_.ended(key))
    fresh.past = ended->past;
  HEADRACE_ASSIGN(auto about, describe(fresh));
  commit(service_record::job_started{std::move(fresh)});
  say(log_level::info, "job started",
      {{"job", to_string(id)}, {"name", wanted.job_name}, {"dataset", dataset_id}});
  todo_.push_back(dispatcher_command::run_job{std::move(about)});
  return id;
}

// -- the supervision of jobs --------------------------------------------------------------

dispatcher_commands dispatcher_core::job_started(job_id id) {
  running_.insert(id);
  if (const auto waiting = held_.extract(id))
    for (const auto& one : waiting.mapped())
      todo_.push_back(dispatcher_command::to_job{id, one.request});
  return finish();
}

dispatcher_commands dispatcher_core::job_not_started(job_id id, const status& why) {
  if (const auto waiting = held_.extract(id))
    for (const auto& one : waiting.mapped()) answer(one.request, why);
  forget_job(id, why, {}, {});
  return finish();
}

dispatcher_commands dispatcher_core::job_crashed(job_id id, const status& why) {
  running_.erase(id);
  say(log_level::error, "job crashed", {{"job", to_string(id)}, {"why", to_string(why)}});
  return finish();
}

dispatcher_commands dispatcher_core::job_ended(job_id id, const job_past& past, bool collected) {
  forget_job(id, {}, {}, past, collected);
  return finish();
}

dispatcher_commands dispatcher_core::job_failed(job_id id, const status& why,
                                                const std::vector<placed_task>& running,
                                                const job_past& past) {
  forget_job(id, why, running, past);
  return finish();
}

void dispatcher_core::forget_job(job_id id, const status& why,
                                 const std::vector<placed_task>& running, const job_past& past,
                                 bool collected) {
  running_.erase(id);
  // The fact is appended before the job's store is deleted, and the journal keeps this order: a
  // dispatcher that is started again must not find a job whose store is deleted.
  const auto job = record_.jobs().find(id);
  const bool began = past.empty() && job != record_.jobs().end();
  commit(service_record::job_over{id, began ? job->second.past : past, collected});
  todo_.push_back(dispatcher_command::drop_job{id});
  if (!why.ok()) {
    say(log_level::error, "job failed", {{"job", to_string(id)}, {"why", to_string(why)}});
    failed_jobs_.emplace_back(id, why);
    if (failed_jobs_.size() > most_failed_jobs)
      failed_jobs_.pop_front();
  }
  // If the actor of a job crashed, it cannot stop the job's tasks.
  for (const auto& task : running)
    if (is_alive(task.worker))
      todo_.push_back(dispatcher_command::stop_task{task.worker, task.id, "its job failed"});
  if (const auto waiting = held_.extract(id))
    for (const auto& one : waiting.mapped()) answer(one.request, without_job(id, one.opens));
}

} // namespace headrace::detail
