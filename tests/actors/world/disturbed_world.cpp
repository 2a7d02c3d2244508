#include "tests/actors/world/disturbed_world.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::detail::test {

namespace {

using namespace std::chrono_literals;

/// A fault of at least this length may let a lease of 5 s expire: heartbeats are a second apart, so
/// the time without a heartbeat may be up to 2 s longer than the fault.
constexpr duration noticed = 3500ms;

} // namespace

disturbed_world::disturbed_world(uint64_t seed, const scale& size, uint32_t allowed) : size_(size) {
  simulation draw{seed * 0x9e3779b97f4a7c15 + 1};
  // A world has only a few kinds of faults, so that one kind does not hide the effects of another.
  for (int i = 0; i < 3; ++i) kinds_ |= allowed & (1u << draw.below(10));
  if (draw.one_in(4))
    kinds_ |= allowed & forever;
  if (draw.one_in(3))
    kinds_ |= allowed & (refusals << draw.below(4));
  world::options about;
  about.seed = seed;
  about.policy = draw.one_in(4) ? sharding_policy::off : sharding_policy::dynamic;
  about.data = {draw.between(1, size_.most_splits),
                draw.one_in(3) ? draw.between(1, size_.most_rows) : 1};
  about.total_known = !draw.one_in(5);
  if (draw.one_in(2) || kind(repetitions))
    about.job_name = "shared";
  about.net.longest_delay = draw.one_in(4) ? 50ms : 2ms;
  if (kind(reorders))
    about.net.spread = 200ms;
  about.slowest_write = draw.one_in(3) ? 0ms : draw.one_in(4) ? 100ms : 10ms;
  worker_timeout_ = draw.one_in(3) ? 60s : 10s;
  if ((allowed & rereads) != 0 && about.policy == sharding_policy::dynamic && draw.one_in(2)) {
    about.guarantee = delivery_guarantee::at_least_once;
    about.mixed = draw.one_in(3);
  }
  // The timeout is mostly short enough to expire within the time of the world.
  about.jobs.client_timeout = draw.one_in(3)   ? 5s
                              : draw.one_in(3) ? 8s
                              : draw.one_in(2) ? 20s
                                               : 120s;
  about.jobs.gc_check_interval = draw.one_in(2) ? 500ms : draw.one_in(2) ? 5s : 60s;
  about.jobs.gc_timeout = draw.one_in(3) ? 500ms : draw.one_in(2) ? 5s : 300s;
  if (draw.one_in(8))
    about.jobs.gc_timeout.reset();
  about.jobs.gc_dynamic_sharding_jobs = draw.one_in(2);
  // Whether the world has a static policy, and its number of shards, are drawn from another
  // generator, so that they do not change the numbers that `draw` gives for the rest of the world.
  simulation apart{seed * 0x9e3779b97f4a7c15 + 2};
  if ((allowed & shards) != 0 && apart.one_in(5)) {
    about.policy = sharding_policy::data;
    about.guarantee = delivery_guarantee::at_most_once;
    about.mixed = false;
    about.shards = static_cast<uint32_t>(apart.between(1, 4));
  }
  simulation third{seed * 0x9e3779b97f4a7c15 + 3};
  if ((allowed & ~dispatcher_returns) == drains)
    kinds_ = allowed;
  else if (third.one_in(8))
    kinds_ |= allowed & drains;
  simulation fourth{seed * 0x9e3779b97f4a7c15 + 4};
  if ((allowed & locals) != 0 && about.policy == sharding_policy::dynamic && fourth.one_in(6))
    about.targets = target_workers::local;
  world_ = std::make_unique<world>(about);
  began_ = world_->time.now();
}

void disturbed_world::say(std::string what) {
  story_.push_back(fmt::format("{:8.3f} s  {}", in_seconds(world_->time.now() - began_), what));
}

void disturbed_world::build() {
  auto& t = world_->time;
  auto workers = t.between(1, 4);
  if (world_->about.shards != 0)
    workers = world_->about.shards;
  for (uint64_t i = 0; i < workers; ++i)
    world_->add_worker({.per_block = t.between(100us, t.one_in(3) ? 200ms : 5ms),
                        .most_rows = t.between(1, 64),
                        .drain = t.between(100ms, 3s) + size_.more_time_to_drain,
                        .place = i + 1});
  const auto trainers = world_->about.job_name.empty() ? t.between(1, 2) : t.between(1, 4);
  const auto& terms = world_->about.jobs;
  const auto bounded = t.one_in(3) ? static_cast<int64_t>(t.between(1, 64)) : 0;
  for (uint64_t i = 0; i < trainers; ++i) {
    trainer_process::options what{
      .reads = {.dataset_id = "d",
                .job_name = world_->about.job_name,
                .place = i % workers + 1,
                .beside_a_worker = true,
                .parameters = {.mode = world_->about.policy,
                               .targets = world_->about.targets,
                               .guarantee = world_->about.guarantee},
                .spec = element_spec{tensor_spec{dtype::int64, shape{}}},
                .max_outstanding = bounded,
                .worker_timeout = worker_timeout_,
                .stall_timeout = stall_timeout(),
                .stream_bytes = 512,
                .consumer_bytes = 4096},
      .pause = size_.shortest_pause + t.between(10us, t.one_in(3) ? 100ms : 3ms),
      .burst = t.between(1, 32)};
    if (kind(trainer_leaves) && t.one_in(2))
      what.leaves_after = t.between(0, world_->data.elements());
    if (i == 0 && kind(repetitions))
      repeat(what);
    if (i != 0 && t.one_in(3))
      t.after(t.between(1ms, 3s), [this, what] { world_->add_trainer(what); });
    else
      world_->add_trainer(what);
  }
  say(fmt::format(
    "{}, {}, {} workers: {} splits of {} rows, {} workers, {} trainers{}, at most {} outstanding, "
    "timeout {:.0f} s, clients' {:.0f} s, {} after {:.1f} s, looked at each {:.1f} s",
    to_string(world_->about.policy), to_string(world_->about.guarantee),
    to_string(world_->about.targets), world_->data.splits, world_->data.rows, workers, trainers,
    world_->about.job_name.empty() ? "" : " of one job", bounded, in_seconds(worker_timeout_),
    in_seconds(terms.client_timeout),
    terms.gc_timeout
      ? terms.gc_dynamic_sharding_jobs ? "all collected" : "collected but dynamic ones"
      : "never collected",
    in_seconds(terms.gc_timeout.value_or(0s)), in_seconds(terms.gc_check_interval)));
}

duration disturbed_world::length(bool& for_good) {
  auto& t = world_->time;
  for_good = kind(forever) && t.one_in(4);
  switch (t.below(4)) {
  case 0: return t.between(1ms, 1s);
  case 1: return t.between(1s, 3400ms);
  case 2: return t.between(4s, 8s);
  default: return t.between(8s, size_.longest_fault);
  }
}

void disturbed_world::disturb(const virtual_process& who, duration how_long) {
  if (how_long < noticed)
    return;
  if (&who == &world_->dispatcher)
    excuses_.dispatcher_away = true;
  for (size_t i = 0; i < world_->trainers.size(); ++i)
    if (&who == &world_->trainers[i])
      excuses_.trainers_away.insert(i);
  for (size_t i = 0; i < world_->workers.size(); ++i)
    if (&who == &world_->workers[i]) {
      excuses_.workers_away.insert(i);
      // It may be that a trainer can read from no other worker while this one is away.
      excuses_.no_worker |= how_long >= worker_timeout_ - 6s;
    }
}

void disturbed_world::cut_something() {
  auto& w = *world_;
  auto& t = w.time;
  bool for_good = false;
  const auto how_long = length(for_good);
  const auto lasting = for_good ? duration{1h} : how_long;
  const auto way = t.below(3);
  auto& trainer = w.trainers[t.below(w.trainers.size())];
  auto& worker = w.workers[t.below(w.workers.size())];
  virtual_process& a = way == 2 ? static_cast<virtual_process&>(worker) : trainer;
  virtual_process& b = way == 1 ? static_cast<virtual_process&>(worker) : w.dispatcher;
  const auto which = way == 1 ? plane::data : plane::control;
  if (kind(refusals) && (!(kind(cuts) || kind(swallows)) || t.one_in(2))) {
    w.net.refuse(which, a, b);
    say(fmt::format("{} and {} refuse each other's connections{} for {:.3f} s", a.name(), b.name(),
                    way == 1 ? " on their link" : "", in_seconds(lasting)));
  } else if (kind(swallows) && (!kind(cuts) || t.one_in(2))) {
    const bool forth = t.one_in(2);
    w.net.swallow(which, forth ? a : b, forth ? b : a);
    say(fmt::format("what {} says to {} is swallowed{} for {:.3f} s", (forth ? a : b).name(),
                    (forth ? b : a).name(), way == 1 ? " on their link" : "", in_seconds(lasting)));
  } else {
    w.net.cut(which, a, b);
    say(fmt::format("{} and {} are cut off from each other{} for {:.3f} s", a.name(), b.name(),
                    way == 1 ? " on their link" : "", in_seconds(lasting)));
  }
  if (way != 2)
    disturb(trainer, lasting);
  if (way != 0)
    disturb(worker, lasting);
  if (way == 2 && for_good)
    excuses_.cut_off_for_good.insert(&worker);
  if (!for_good)
    t.after(how_long, [this, which, &a, &b] {
      say(fmt::format("{} and {} are joined again", a.name(), b.name()));
      world_->net.heal(which, a, b);
    });
}

virtual_process& disturbed_world::any(bool dispatcher) {
  auto& w = *world_;
  const auto n = w.trainers.size() + w.workers.size() + (dispatcher ? 1 : 0);
  const auto i = w.time.below(n);
  if (i < w.trainers.size())
    return w.trainers[i];
  if (i < w.trainers.size() + w.workers.size())
    return w.workers[i - w.trainers.size()];
  return w.dispatcher;
}

void disturbed_world::stop_something() {
  auto& who = any(true);
  if (!who.alive() || who.stopped())
    return;
  bool for_good = false;
  const auto how_long = length(for_good);
  const auto lasting = for_good ? duration{1h} : how_long;
  say(fmt::format("{} is stopped for {:.3f} s", who.name(), in_seconds(lasting)));
  who.stop();
  world_->net.changed(who);
  disturb(who, lasting);
  if (!for_good)
    world_->time.after(how_long, [this, &who, life = who.life()] {
      if (who.life() != life || !who.alive())
        return;
      say(who.name() + " goes on");
      who.go_on();
      world_->net.changed(who);
    });
}

void disturbed_world::kill_dispatcher(bool keeps_state) {
  auto& w = *world_;
  if (!w.dispatcher.alive())
    return;
  bool for_good = false;
  const auto back = length(for_good);
  say(for_good ? "the dispatcher dies for good" : "the dispatcher dies");
  w.dispatcher.kill();
  w.net.changed(w.dispatcher);
  // If the state was not stored, the records of the jobs are lost with the process.
  excuses_.dispatcher_away = true;
  excuses_.dispatcher_lost_state |= for_good || !keeps_state;
  if (!for_good)
    w.time.after(back, [this, keeps_state] {
      auto& d = world_->dispatcher;
      if (d.alive())
        return;
      say(
        fmt::format("the dispatcher is started again, with{} its state", keeps_state ? "" : "out"));
      keeps_state ? d.start_again() : d.start();
    });
}

/// Adds trainers that read the job's second repetition, and sometimes one that joins the first
/// repetition late.
void disturbed_world::repeat(const trainer_process::options& what) {
  auto& t = world_->time;
  const auto join = [&](uint64_t repetition) {
    auto late = what;
    late.reads.repetition = repetition;
    t.after(t.between(1ms, size_.faults_within), [this, late] {
      say(fmt::format("{} joins repetition {}", world_->add_trainer(late).name(),
                      late.reads.repetition));
    });
  };
  for (auto n = t.between(1, 3); n > 0; --n) join(1);
  if (t.one_in(2))
    join(0);
}

void disturbed_world::drain(worker_process& who) {
  if (!who.alive() || who.stopped() || who.leaving() || !world_->dispatcher.alive()
      || world_->dispatcher.stopped())
    return;
  say(who.name() + " is to leave");
  disturb(who, 10s);
  follow(who, {.which = who.about().address});
  world_->time.after(world_->time.between(1ms, 3s), [this, place = who.about().place] {
    auto& fresh = world_->add_worker(
      {.per_block = 2ms, .drain = 1s + size_.more_time_to_drain, .place = place});
    say(fresh.name() + " comes in its place");
  });
}

void disturbed_world::follow(worker_process& who, drain_request what) {
  world_->dispatcher.drain(what, [this, &who, what](const result<worker_drains>& how) {
    if (!how)
      return say(who.name() + " is not drained: " + to_string(how.status()));
    if (!how->left) {
      auto next = what;
      next.known = how->tasks;
      next.life = how->life;
      // The next request follows after the time that an answer takes over the network.
      return world_->time.after(1ms, [this, &who, next] {
        if (world_->dispatcher.alive() && !world_->dispatcher.stopped())
          follow(who, next);
      });
    }
    say(fmt::format("{} has left, with {} tasks unfinished", who.name(), how->unfinished));
    drained_.push_back(*how);
  });
}

void disturbed_world::befall() {
  auto& w = *world_;
  auto& t = w.time;
  std::vector<std::function<void()>> what;
  if (kind(cuts) || kind(swallows) || kind(refusals))
    what.push_back([this] { cut_something(); });
  if (kind(stops))
    what.push_back([this] { stop_something(); });
  if (kind(worker_deaths))
    what.push_back([&, this] {
      auto& who = w.workers[t.below(w.workers.size())];
      if (!who.alive())
        return;
      say(who.name() + " dies");
      who.kill();
      w.net.changed(who);
      disturb(who, 10s);
      bool for_good = false;
      const auto back = length(for_good);
      if (for_good)
        excuses_.no_worker = true;
      else
        t.after(back, [this, &who] {
          if (who.alive())
            return;
          say(who.name() + " is started again");
          who.start();
        });
      if (back > worker_timeout_ - 6s)
        excuses_.no_worker = true;
    });
  if (kind(worker_leaves))
    what.push_back([&, this] {
      auto& who = w.workers[t.below(w.workers.size())];
      if (!who.alive() || who.stopped() || who.leaving())
        return;
      say(who.name() + " leaves");
      who.leave();
      disturb(who, 10s);
      t.after(t.between(1ms, 3s), [this, place = who.about().place] {
        auto& fresh = world_->add_worker({.per_block = 2ms, .place = place});
        say(fresh.name() + " comes in its place");
      });
    });
  if (kind(drains))
    what.push_back([&, this] { drain(w.workers[t.below(w.workers.size())]); });
  if (kind(worker_joins))
    what.push_back([this] { say(world_->add_worker({.per_block = 1ms}).name() + " joins"); });
  if (kind(trainer_deaths))
    what.push_back([&, this] {
      auto& who = w.trainers[t.below(w.trainers.size())];
      if (!who.alive() || who.over())
        return;
      say(who.name() + " dies");
      who.kill();
      w.net.changed(who);
    });
  if (kind(dispatcher_deaths))
    what.push_back([this] { kill_dispatcher(false); });
  if (kind(dispatcher_returns))
    what.push_back([this] { kill_dispatcher(true); });
  if (kind(crashes))
    what.push_back([&, this] {
      auto& who = w.workers[t.below(w.workers.size())];
      if (!who.alive() || who.stopped())
        return;
      switch (t.below(3)) {
      case 0: say("a task of " + who.name() + " crashes"); return who.crash_a_task();
      case 1: say("a runner of " + who.name() + " crashes"); return who.crash_a_runner();
      default:
        if (!w.dispatcher.alive() || w.dispatcher.stopped())
          return;
        if (t.one_in(4)) {
          say("the dispatcher's actor crashes");
          return w.dispatcher.crash();
        }
        say("a job's actor crashes");
        w.dispatcher.crash_a_job();
      }
    });
  if (!what.empty())
    what[t.below(what.size())]();
}

void disturbed_world::look_at_credit() {
  for (const auto& x : world_->trainers) {
    const auto share = x.fair_window();
    const auto smallest = x.smallest_window();
    if (!x.over() && share && smallest && *smallest < *share) {
      if (++starved_[&x] == 3)
        starving_.push_back(fmt::format("{} grants a task {} elements; {} is its share", x.name(),
                                        *smallest, *share));
    } else {
      starved_.erase(&x);
    }
  }
  world_->time.after(500ms, [this] { look_at_credit(); });
}

void disturbed_world::run() {
  build();
  auto& t = world_->time;
  const auto faults = t.between(0, 6);
  const auto within = t.one_in(3)   ? size_.faults_within
                      : t.one_in(2) ? size_.faults_within / 5
                                    : size_.faults_within / 30;
  for (uint64_t i = 0; i < faults; ++i) t.after(t.between(1ms, within), [this] { befall(); });
  look_at_credit();
  // When all faults are over, a trainer that waits is handed an element, or gets an error, after
  // its stall timeout at the latest. Its consumer checks that time with each heartbeat, so `bound`
  // is longer.
  const auto quiet = began_ + size_.faults_within + size_.longest_fault + 15s;
  const auto bound = stall_timeout() + 10s;
  const auto all_over = [&] {
    return std::ranges::all_of(world_->trainers,
                               [](const auto& x) { return x.over() || x.stopped() || !x.alive(); });
  };
  const auto handed_out = [&] {
    size_t n = 0;
    for (const auto& x : world_->trainers) n += x.history().handed_out.size();
    return n;
  };
  t.run_until(quiet);
  auto last = handed_out();
  for (auto until = t.now() + bound; t.now() < until && !all_over();) {
    t.run_until(t.now() + 1s);
    if (const auto now = handed_out(); std::exchange(last, now) != now)
      until = t.now() + bound;
  }
  t.run_until(t.now() + 20s);
  // The dispatcher keeps readers that are gone, and named jobs without readers, for some time. Only
  // after that do the tasks of these jobs end.
  const auto& terms = world_->about.jobs;
  if (std::ranges::any_of(world_->workers, [](const auto& x) { return x.tasks() != 0; }))
    t.run_until(t.now() + terms.client_timeout + terms.gc_timeout.value_or(0s)
                + terms.gc_check_interval + 30s);
  for (const auto& x : world_->trainers) {
    const auto& h = x.history();
    story_.push_back(
      fmt::format("{:8.3f} s  {} {} after {} elements{}{}",
                  in_seconds((x.over() && !h.killed ? h.ended_at : t.now()) - began_), x.name(),
                  h.ended    ? "reads its end: " + to_string(*h.ended)
                  : h.left   ? "has left"
                  : h.killed ? "is dead"
                             : "still waits",
                  h.handed_out.size(), h.remark.empty() ? "" : ", and: ", h.remark));
  }
  judge_ = std::make_unique<judge>(*world_, excuses_, starving_);
}

} // namespace headrace::detail::test
