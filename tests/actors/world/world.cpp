#include "tests/actors/world/world.hpp"

#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <algorithm>

namespace headrace::detail::test {

namespace {

split_plan plan_of(const world::options& about) {
  split_plan out;
  // As in the dispatcher, the plan of a job with rounds or a cache does not state that each row
  // descends from one split.
  if (about.num_consumers != 0 || about.cached)
    out.rows = {.in_order = true};
  else if (!about.mixed)
    out.rows = {.apart = true, .single = about.data.rows == 1, .in_order = true};
  out.groups = 1;
  out.sources.push_back(
    {.splits = about.total_known ? std::optional{about.data.splits} : std::nullopt, .passes = 1});
  return out;
}

dataset_ptr graph_of(const world::options& about) {
  auto out = make_range(0, static_cast<int64_t>(about.data.splits), 1).value();
  // Coordinated reads need a dataset without an end. The trainers leave by themselves.
  return about.num_consumers != 0 ? make_repeat(out, infinite_cardinality).value() : out;
}

} // namespace

world::world(options what)
  : about(std::move(what)),
    time(about.seed),
    data(about.data),
    graph(graph_of(about)),
    plan(plan_of(about)),
    net(time, about.net),
    dispatcher(*this) {
  dispatcher.start();
}

worker_process& world::add_worker(worker_process::options what) {
  what.address = "worker:" + std::to_string(workers.size() + 1);
  auto& fresh = workers.emplace_back(*this, what.address, what);
  by_address[what.address] = &fresh;
  fresh.start();
  return fresh;
}

trainer_process& world::add_trainer(trainer_process::options what) {
  auto& fresh =
    trainers.emplace_back(*this, "trainer:" + std::to_string(trainers.size() + 1), std::move(what));
  fresh.start();
  return fresh;
}

worker_process* world::worker_at(const std::string& address) {
  const auto at = by_address.find(address);
  return at != by_address.end() ? at->second : nullptr;
}

void world::leased(task_id to, const split_range& what) {
  for (auto i = what.first; i < std::min(what.first + what.count, data.splits); ++i)
    leases[i].insert(to);
}

void world::task_is(job_id of, uint64_t repetition, const iteration::task& now) {
  using state = iteration::task_state;
  gave_a_task(of, repetition, now.worker.data_address);
  if (now.state == state::lost)
    lost_tasks.emplace(now.id, time.now());
  if (!now.worker.shard)
    return;
  auto& reading = shard_readings[copy_of(now.id)];
  reading.shard = *now.worker.shard;
  reading.gone |= now.state == state::lost || now.state == state::left;
}

void world::sent(const block& rows, const trainer_process& to) {
  for (auto x : rows.columns[0].values<int64_t>()) sent_to[&to].insert(x);
}

void world::reached(const block& rows) {
  for (auto x : rows.columns[0].values<int64_t>()) reached_a_trainer.insert(x);
}

} // namespace headrace::detail::test
