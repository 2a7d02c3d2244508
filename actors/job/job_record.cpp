#include "headrace/actors/job/job_record.hpp"

#include "headrace/pipeline/iterator/counter_random.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace headrace::detail {

namespace {

/// The number of bits of a task's id that number the tasks of its repetition.
constexpr unsigned counting_bits = 16;

/// The number from which the tasks of one repetition are numbered. It has 53 bits, as job ids have,
/// and is practically unique, even if a collected repetition begins again.
uint64_t first_task_id(job_id job, uint64_t repetition, uint64_t seed) {
  return mix(mix(job.value, repetition), seed) >> 27 << counting_bits;
}

} // namespace

job_record::job_record(job_id id, sharding_policy mode, split_plan plan, const job_past& past,
                       uint32_t shards, delivery_guarantee guarantee, reading_rule reads)
  : id_(id),
    mode_(mode),
    shards_(shards),
    plan_(std::move(plan)),
    guarantee_(guarantee),
    reads_(reads),
    over_below_(past.below) {
  for (auto number : past.also) over_[number] = status{};
  for (auto number : past.failed)
    over_[number] =
      aborted(fmt::format("repetition {} of this job failed; its reason is not kept any more, and "
                          "another job_name begins anew",
                          number));
}

void job_record::apply(const fact& what) {
  if (const auto* first = std::get_if<begun>(&what.what)) {
    if (ended_as(what.repetition))
      return;
    repetitions_.try_emplace(
      what.repetition,
      repetition{iteration{mode_, what.repetition, first_task_id(id_, what.repetition, first->seed),
                           shards_, reads_},
                 split_assigner{plan_}, lease_history{plan_, guarantee_, reads_.num_consumers != 0},
                 first->seed});
    return;
  }
  auto at = repetitions_.find(what.repetition);
  if (at == repetitions_.end())
    return;
  if (std::holds_alternative<forgotten>(what.what))
    return forget(at);
  if (std::holds_alternative<collected>(what.what))
    return collect(at);
  if (const auto* task = std::get_if<iteration::fact>(&what.what))
    at->second.state.apply(*task);
  else if (const auto* leases = std::get_if<lease_history::fact>(&what.what))
    at->second.leases.apply(*leases);
  else if (const auto* held = std::get_if<held_rows::fact>(&what.what)) {
    if (const auto* gone = std::get_if<held_rows::reader_gone>(held))
      at->second.leases.lose_holder(at->second.held.tasks_of(gone->who));
    at->second.held.apply(*held);
  } else {
    const auto& splits = std::get<split_assigner::fact>(what.what);
    at->second.splits.apply(splits);
    at->second.leases.apply(splits);
  }
}

size_t job_record::bytes_of(const fact& what) {
  const auto* leases = std::get_if<lease_history::fact>(&what.what);
  const split_receipt* receipt = nullptr;
  if (leases != nullptr) {
    if (const auto* x = std::get_if<lease_history::received>(leases))
      receipt = &x->what;
    else if (const auto* y = std::get_if<lease_history::given>(leases))
      receipt = &y->what;
  }
  return sizeof(fact) + (receipt != nullptr ? receipt->reached.size() * sizeof(split_run) : 0);
}

void job_record::forget(std::map<uint64_t, repetition>::iterator at) {
  over_[at->first] = at->second.state.failure();
  repetitions_.erase(at);
  for (auto next = over_.find(over_below_); next != over_.end(); next = over_.find(over_below_)) {
    if (next->second.ok())
      over_.erase(next);
    ++over_below_;
  }
  // All entries before `over_below_` are failures.
  while (std::distance(over_.begin(), over_.lower_bound(over_below_))
         > static_cast<std::ptrdiff_t>(most_failures))
    over_.erase(over_.begin());
}

void job_record::collect(std::map<uint64_t, repetition>::iterator at) {
  collected_.push_back({at->first, at->second.state.last_task() >> counting_bits});
  if (collected_.size() > most_collected)
    collected_.pop_front();
  repetitions_.erase(at);
}

bool job_record::was_collected(uint64_t number) const {
  return !repetitions_.contains(number)
         && std::ranges::find(collected_, number, &gone::repetition) != collected_.end();
}

bool job_record::was_collected(task_id task) const {
  return std::ranges::find(collected_, task.value >> counting_bits, &gone::family)
         != collected_.end();
}

bool job_record::has_collected() const {
  return std::ranges::any_of(collected_, [this](const gone& x) {
    return was_collected(x.repetition) && !ended_as(x.repetition);
  });
}

job_past job_record::past() const {
  auto after = *this;
  for (auto at = after.repetitions_.begin(); at != after.repetitions_.end();) {
    const auto next = std::next(at);
    if (at->second.state.finished())
      after.forget(at);
    at = next;
  }
  job_past out{.below = after.over_below_};
  for (const auto& [number, how] : after.over_)
    (how.ok() ? out.also : out.failed).push_back(number);
  out.bound();
  return out;
}

std::vector<job_record::fact> job_record::spent() const {
  std::vector<fact> out;
  for (const auto& [number, r] : repetitions_)
    if (number != repetitions_.rbegin()->first && r.state.finished() && r.state.consumers().empty())
      out.push_back({number, forgotten{}});
  return out;
}

std::optional<status> job_record::ended_as(uint64_t number) const {
  if (auto at = over_.find(number); at != over_.end())
    return at->second;
  return number < over_below_ ? std::optional{status{}} : std::nullopt;
}

iteration_losses job_record::losses_of(const repetition& r) const {
  auto out = r.leases.losses();
  // Under at_least_once, rows that lost readers held are read again, so they are not lost.
  if (guarantee_ == delivery_guarantee::at_most_once)
    out.elements += r.held.lost();
  out.elements += r.state.rounds().missed();
  // Under a static policy, tasks that left are counted, too: another task reads the shard from its
  // beginning, and gives again all elements that the first task had given.
  const bool anew = is_static(mode_);
  const auto gone = [&](const auto& entry) {
    using state = iteration::task_state;
    const auto& [id, t] = entry;
    return t.ran && (t.state == state::lost || (anew && t.state == state::left))
           && !(mode_ == sharding_policy::dynamic && r.leases.has(id));
  };
  // Under DYNAMIC losses are counted in splits. But rows that a task read from other jobs descend
  // from no split, so lost tasks are counted, too, if the graph reads from other jobs.
  if (mode_ != sharding_policy::dynamic || plan_.other_jobs)
    out.tasks += static_cast<uint64_t>(std::ranges::count_if(r.state.tasks(), gone));
  return out;
}

std::vector<placed_task> job_record::running() const {
  std::vector<placed_task> out;
  for (const auto& [number, r] : repetitions_)
    for (const auto& [id, task] : r.state.tasks())
      if (task.alive())
        out.push_back({id, task.worker.id});
  return out;
}

std::vector<job_record::fact> job_record::facts_of(uint64_t number,
                                                   const iteration::decision& decided) const {
  std::vector<fact> out;
  auto after = repetitions_.at(number).state;
  for (const auto& x : decided.facts) {
    out.push_back({number, x});
    after.apply(x);
  }
  if (!decided.todo.start.empty() || !decided.todo.forget.empty())
    out.push_back({number, split_assigner::shared_by{static_cast<uint64_t>(std::ranges::count_if(
                             after.tasks(), [](const auto& x) { return x.second.alive(); }))}});
  const auto& leases = repetitions_.at(number).leases;
  std::vector<consumer_id> readers;
  // In coordinated reads, the receipt of a reader that still waits for its first epoch would show
  // nothing.
  std::ranges::copy_if(after.consumers(), std::back_inserter(readers), [&](consumer_id who) {
    return after.rounds().consumers() == 0 || after.rounds().takes_part(who);
  });
  for (auto id : decided.todo.forget)
    // A lost task keeps its unread splits until its readers have sent their receipts, so that the
    // passes of these splits are not over for other tasks before that.
    if (after.tasks().at(id).state == iteration::task_state::lost && leases.has(id))
      out.push_back({number, lease_history::lost{id, readers}});
    else
      out.push_back({number, split_assigner::task_gone{id}});
  return out;
}

} // namespace headrace::detail
