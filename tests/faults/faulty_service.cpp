#include "tests/faults/faulty_service.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <stdexcept>
#include <sys/mount.h>
#include <thread>

namespace headrace::detail::test {

namespace {

using namespace std::chrono_literals;

/// The delay that a busy machine may add to the bounds set by options.
constexpr duration slack = 15s;
/// A trainer must end within the sum of this time and `worker_timeout` after the fault was healed,
/// or, if the fault is not healed, after it began.
constexpr duration longest_end = 90s;

std::string milliseconds_of(duration x) { return std::to_string(x / 1ms) + "ms"; }
time_point now() { return clock::system().now(); }

std::string local(uint16_t port) { return "127.0.0.1:" + std::to_string(port); }

} // namespace

faulty_service::faulty_service(const scenario& what, std::string folder)
  : what_(what), folder_(std::move(folder)), began_(now()) {
  say(what_.describe());
  if (what_.what == fault::clock)
    set_clock("+0");
  if (what_.what == fault::full) {
    const auto disk = folder_ + "/disk";
    std::filesystem::create_directory(disk);
    if (!may_mount() || ::mount("none", disk.c_str(), "tmpfs", 0, "size=40m") != 0)
      throw std::runtime_error{"no disk can be mounted at " + disk};
    disk_ = disk;
  }
  begin_dispatcher();
  for (size_t i = 0; i < what_.workers; ++i) add_worker();
  await_workers(dispatcher_->address, what_.workers);
}

faulty_service::~faulty_service() {
  if (!disk_.empty())
    ::umount2(disk_.c_str(), MNT_DETACH);
}

void faulty_service::begin_dispatcher() {
  std::vector<std::string> options{"--lease",          milliseconds_of(what_.scale.lease),
                                   "--heartbeat",      milliseconds_of(what_.scale.heartbeat),
                                   "--client-timeout", milliseconds_of(what_.scale.lease),
                                   "--log-level",      "debug",
                                   "--log-file",       folder_ + "/dispatcher.log"};
  if (what_.is_kept())
    options.insert(options.end(), {"--work-dir", folder_ + "/disk/store"});
  if (what_.comes_back())
    std::filesystem::create_directories(folder_ + "/disk");
  dispatcher_ = std::make_unique<server_process>(
    start_dispatcher(std::move(options), environment(place::dispatcher)));
}

std::vector<std::string> faulty_service::environment(place of) const {
  if (what_.what != fault::clock || what_.where != of)
    return {};
  return {"LD_PRELOAD=" + clock_library(), "FAKETIME_TIMESTAMP_FILE=" + folder_ + "/clock",
          "FAKETIME_NO_CACHE=1", "FAKETIME_DONT_FAKE_MONOTONIC=1"};
}

void faulty_service::set_clock(const std::string& offset) {
  // The file is replaced in one step, because the processes may read it at any time.
  const auto next = folder_ + "/clock.next";
  std::ofstream{next} << offset << '\n';
  std::filesystem::rename(next, folder_ + "/clock");
}

void faulty_service::fill_disk(bool full) {
  const auto ballast = folder_ + "/disk/ballast";
  if (!full) {
    std::filesystem::remove(ballast);
    return;
  }
  std::ofstream out{ballast, std::ios::binary};
  const std::vector<char> some(size_t{64} << 10);
  while (out.write(some.data(), static_cast<std::streamsize>(some.size())) && out.flush()) {
  }
}

void faulty_service::say(std::string what) {
  story_.push_back(fmt::format("{:7.3f} s  {}", in_seconds(now() - began_), what));
}

faulty_service::worker& faulty_service::add_worker(bool refuses) {
  auto& fresh = workers_.emplace_back();
  fresh.name = fmt::format("worker {}", workers_.size());
  fresh.control = std::make_unique<relay>(dispatcher_->port());
  fresh.data->refuse(refuses);
  fresh.process = std::make_unique<server_process>(
    start_worker(local(fresh.control->port()),
                 {"--advertise-data", local(fresh.data->port()), "--lease",
                  milliseconds_of(what_.scale.lease), "--log-level", "debug", "--log-file",
                  fmt::format("{}/worker{}.log", folder_, workers_.size())},
                 environment(place::worker)));
  fresh.data->forward_to(fresh.process->port());
  return fresh;
}

void faulty_service::add_trainer() {
  auto& fresh = trainers_.emplace_back();
  fresh.name = fmt::format("trainer {}", trainers_.size());
  fresh.control = std::make_unique<relay>(dispatcher_->port());
  const auto file = fmt::format("{}/trainer{}", folder_, trainers_.size());
  const auto copies = what_.off ? static_cast<int64_t>(2 * what_.workers + 1) : 1;
  // The record has room for twice as many elements, so that repeated elements are recorded, too.
  fresh.record = std::make_unique<reading_record>(
    reading_record::create(file, static_cast<uint64_t>(2 * copies * what_.total)));
  const auto steps = what_.total / static_cast<int64_t>(what_.trainers)
                     * (what_.off ? static_cast<int64_t>(what_.workers) : 1)
                     / (what_.graph == "batch" ? 7 : 1);
  constexpr int64_t pauses = 200;
  const trainer_orders orders{.dispatcher = local(fresh.control->port()),
                              .record = file,
                              .graph = what_.graph,
                              .mode = what_.off             ? "off"
                                      : what_.at_least_once ? "at_least_once"
                                                            : "dynamic",
                              .job = what_.job,
                              .total = what_.total,
                              .most_outstanding = what_.most_outstanding,
                              .worker_timeout_ms = what_.worker_timeout / 1ms,
                              .pause_us = what_.reading / 1us / pauses,
                              .burst = std::max<int64_t>(steps / pauses, 1),
                              .begun_after =
                                static_cast<int64_t>(what_.begun * static_cast<double>(what_.total)
                                                     / static_cast<double>(what_.trainers))};
  auto argv = orders.arguments();
  argv.insert(argv.begin(), trainer_program());
  fresh.process = std::make_unique<child_process>(
    child_process::start({.argv = std::move(argv), .environment = environment(place::trainer)})
      .value());
}

// -- faults --------------------------------------------------------------------------------

std::vector<relay*> faulty_service::relays() {
  std::vector<relay*> out;
  switch (what_.where) {
  case place::data: return {workers_[0].data.get()};
  case place::worker_control:
    for (size_t i = 0; i < (what_.what == fault::roll ? what_.workers : 1); ++i)
      out.push_back(workers_[i].control.get());
    return out;
  case place::trainer_control: return {trainers_.back().control.get()};
  default:
    // fault::roll: the workers are replaced while the trainers cannot reach the dispatcher.
    for (auto& t : trainers_) out.push_back(t.control.get());
    return out;
  }
}

child_process* faulty_service::stopped_process() {
  switch (what_.where) {
  case place::dispatcher: return &dispatcher_->process;
  case place::worker: return &workers_[0].process->process;
  default: return trainers_.back().process.get();
  }
}

void faulty_service::befall() {
  broke_at_ = now();
  say("it begins");
  switch (what_.what) {
  case fault::cut:
  case fault::roll:
    for (auto* x : relays()) {
      x->refuse(true);
      x->cut();
    }
    break;
  case fault::hold:
    for (auto* x : relays()) x->hold(true);
    break;
  case fault::swallow_forth:
    for (auto* x : relays()) x->swallow_all(relay::direction::forward, true);
    break;
  case fault::swallow_back:
    for (auto* x : relays()) x->swallow_all(relay::direction::back, true);
    break;
  case fault::refuse: add_worker(true); break;
  case fault::stop: stopped_process()->kill(SIGSTOP); break;
  case fault::kill:
    stopped_process()->kill(SIGKILL);
    if (what_.where == place::dispatcher)
      dispatcher_over_ = !what_.comes_back();
    else
      (what_.where == place::worker ? workers_[0].killed : trainers_.back().killed) = true;
    break;
  case fault::end: return end_all();
  case fault::slow:
    for (auto* x : relays()) x->delay(200ms);
    break;
  case fault::full: fill_disk(true); break;
  case fault::clock: set_clock("+3600"); break;
  }
  if (what_.what == fault::roll)
    roll();
  if (!what_.length)
    return;
  // To begin some faults takes time; the length of a fault includes this time.
  std::this_thread::sleep_until(broke_at_ + *what_.length);
  heal();
}

void faulty_service::heal() {
  if (what_.what == fault::full)
    if (const auto status = get_service_status(dispatcher_->address, patience))
      say("the dispatcher says of its disk: " + status->disk_trouble);
  healed_at_ = now();
  say("it is over");
  switch (what_.what) {
  case fault::cut:
  case fault::roll:
    for (auto* x : relays()) x->refuse(false);
    break;
  case fault::hold:
    for (auto* x : relays()) x->hold(false);
    break;
  case fault::swallow_forth:
  case fault::swallow_back:
    for (auto* x : relays()) {
      // Connections that lack bytes cannot continue.
      x->cut();
      x->swallow_all(relay::direction::forward, false);
      x->swallow_all(relay::direction::back, false);
    }
    break;
  case fault::refuse: workers_.back().data->refuse(false); break;
  case fault::stop:
    if (what_.where == place::trainer)
      trainers_.back().resumed_at = trainers_.back().record->count();
    stopped_process()->kill(SIGCONT);
    break;
  case fault::kill:
    if (what_.where == place::worker)
      add_worker();
    if (what_.where == place::dispatcher) {
      begin_dispatcher();
      for (auto& w : workers_) w.control->forward_to(dispatcher_->port());
      for (auto& t : trainers_) t.control->forward_to(dispatcher_->port());
    }
    break;
  case fault::end: break;
  case fault::slow:
    for (auto* x : relays()) x->delay(0ms);
    break;
  case fault::full: fill_disk(false); break;
  case fault::clock: set_clock("-3600"); break;
  }
}

void faulty_service::roll() {
  for (size_t i = 0; i < what_.workers; ++i) {
    if (what_.workers_first)
      add_worker();
    workers_[i].told_to_end = true;
    workers_[i].process->process.kill(SIGTERM);
    expect_end(workers_[i].name, workers_[i].process->process);
    if (!what_.workers_first)
      add_worker();
  }
}

void faulty_service::end_all() {
  std::vector<child_process*> all{&dispatcher_->process};
  dispatcher_over_ = true;
  for (auto& w : workers_) {
    w.told_to_end = true;
    all.push_back(&w.process->process);
  }
  if (what_.trainers_too)
    for (auto& t : trainers_) {
      t.killed = true;
      all.push_back(t.process.get());
    }
  std::ranges::shuffle(all, std::mt19937_64{what_.seed});
  for (auto* x : all) x->kill(SIGTERM);
  expect_end("dispatcher", dispatcher_->process);
  for (auto& w : workers_) expect_end(w.name, w.process->process);
}

// -- the end ----------------------------------------------------------------------------------

void faulty_service::expect_end(const std::string& name, child_process& of) {
  const auto end = of.wait(patience);
  ends_.push_back({name, !end                    ? "does not end when it is told to"
                         : *end == process_end{} ? ""
                                                 : to_string(*end)});
  say(
    fmt::format("{} has ended{}{}", name, ends_.back().end.empty() ? "" : ": ", ends_.back().end));
}

void faulty_service::wait_for_trainers() {
  const auto until = now() + longest_end + what_.worker_timeout;
  for (auto& t : trainers_) {
    // A trainer that is stopped for good is not waited for.
    if (what_.what == fault::stop && what_.where == place::trainer && !what_.length
        && &t == &trainers_.back())
      continue;
    const auto end = t.process->wait(std::max<duration>(until - now(), 1ms));
    t.hung = !end;
    say(fmt::format("{} {} with {} elements{}", t.name,
                    t.hung     ? "hangs"
                    : t.killed ? "was killed"
                               : "has ended",
                    t.record->count(),
                    t.record->ended() ? ": " + to_string(*t.record->ended()) : ""));
    if (const auto remark = t.record->remark(); !remark.empty())
      say(fmt::format("{} read: {}", t.name, remark));
    if (t.hung)
      t.process->kill(SIGABRT);
  }
}

void faulty_service::stop_servers() {
  // A server that is stopped for good cannot end.
  if (what_.what == fault::stop && what_.where != place::trainer)
    stopped_process()->kill(SIGCONT);
  for (auto& w : workers_)
    if (!w.killed && !w.told_to_end)
      w.process->process.kill(SIGTERM);
  for (auto& w : workers_)
    if (!w.killed && !w.told_to_end)
      expect_end(w.name, w.process->process);
  if (!dispatcher_over_) {
    dispatcher_->process.kill(SIGTERM);
    expect_end("dispatcher", dispatcher_->process);
  }
}

told_history faulty_service::run() {
  for (size_t i = 0; i < what_.trainers; ++i) add_trainer();
  for (auto& t : trainers_) t.process->read_until("begun", patience).value();
  befall();
  wait_for_trainers();
  stop_servers();
  say_what_came_again();
  for (const auto& t : trainers_)
    if (t.resumed_at)
      t.record->was_stopped_at(*t.resumed_at);
  return history();
}

void faulty_service::say_what_came_again() {
  // Elements that came twice are reported even if an error excuses them.
  if (what_.off || what_.job.empty())
    return;
  std::map<int64_t, size_t> times;
  for (const auto& t : trainers_)
    for (auto x : t.record->handed_out()) ++times[x];
  if (const auto again = std::ranges::count_if(times, [](const auto& x) { return x.second > 1; }))
    say(fmt::format("{} elements were handed out to more than one trainer", again));
}

// -- for the judge ----------------------------------------------------------------------------

/// True if the fault lasted for `limit`, less a margin for heartbeats and new connections.
bool faulty_service::is_away(duration limit) const {
  const auto lasted = healed_at_ ? *healed_at_ - broke_at_ : duration{24h};
  return lasted + what_.scale.heartbeat + 500ms >= limit;
}

told_history faulty_service::history() const {
  const auto f = what_.what;
  const bool over = f == fault::end;
  const auto& lease = what_.scale.lease;
  // No member's lease expires because of these faults.
  const bool harmless = f == fault::slow || f == fault::full || f == fault::clock;
  const bool trainer_hit =
    !harmless && (what_.where == place::trainer || what_.where == place::trainer_control);
  const bool worker_hit =
    !harmless && (what_.where == place::worker || what_.where == place::worker_control);
  // True if a worker ended or was replaced, or if its lease may have expired because the worker or
  // the dispatcher was stopped or unreachable. Faults of connections to data ports do not count.
  const bool worker_away = over || f == fault::roll || (f == fault::kill && worker_hit)
                           || (worker_hit && is_away(lease))
                           || (!harmless && what_.where == place::dispatcher && is_away(lease));

  // True if workers are replaced while the trainers cannot reach the dispatcher.
  const bool cut_off = f == fault::roll && what_.where != place::worker_control;

  told_history out;
  out.elements = elements_of(what_.graph, what_.total);
  out.off = what_.off;
  out.shared = !what_.job.empty();
  out.single_rows = what_.graph != "batch";
  out.worker_away = worker_away;
  out.at_least_once = what_.at_least_once;
  out.copies = workers_.size();
  out.steady = worker_away || f == fault::refuse ? what_.workers - 1 : what_.workers;
  if (over || f == fault::roll)
    out.steady = 0;
  const auto lasted = healed_at_ ? *healed_at_ - broke_at_ : duration{0};
  out.longest_wait = lasted + what_.worker_timeout + 2 * lease + slack;
  out.servers = ends_;
  for (const auto& t : trainers_) {
    const bool hit = trainer_hit ? &t == &trainers_.back() : true;
    // A trainer that is stopped or cannot reach the dispatcher is given up after a lease. Any other
    // trainer reads an error only if it waits for longer than `worker_timeout`.
    const bool away = trainer_hit || cut_off ? is_away(lease) : is_away(what_.worker_timeout);
    told_reading one;
    one.of = {.name = t.name,
              .handed_out = t.record->handed_out(),
              .handed_out_at = t.record->handed_out_at(),
              .ended = t.record->ended(),
              .remark = t.record->remark(),
              .over = true,
              .gone = !t.record->ended()};
    one.may_fail = over || (!harmless && hit && away);
    one.hung = t.hung;
    one.longest_wait = t.record->longest_wait();
    out.readings.push_back(std::move(one));
  }
  return out;
}

} // namespace headrace::detail::test
