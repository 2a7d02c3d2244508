#include "tests/faults/scenario.hpp"
#include "tests/support/sanitized.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <random>
#include <sched.h>
#include <sys/mount.h>

namespace headrace::detail::test {

namespace {

using namespace std::chrono_literals;

constexpr fault_scale small{
  .lease = 2s, .heartbeat = 400ms, .below = 900ms, .above = 3500ms, .rows = 40'000};
/// The scale for faults during which no lease may expire, even if the machine has other work.
constexpr fault_scale patient{
  .lease = 5s, .heartbeat = 1s, .below = small.below, .above = small.above, .rows = small.rows};
constexpr fault_scale large{
  .lease = 5s, .heartbeat = 1s, .below = 3s, .above = 7s, .rows = 150'000};

} // namespace

std::string to_string(fault x) {
  constexpr std::array names{"cut",  "hold", "swallow-forth", "swallow-back", "refuse", "stop",
                             "kill", "roll", "end",           "slow",         "full",   "clock"};
  return names.at(static_cast<size_t>(x));
}

std::string to_string(place x) {
  constexpr std::array names{"dispatcher",     "worker",          "trainer",
                             "worker-control", "trainer-control", "data"};
  return names.at(static_cast<size_t>(x));
}

std::string scenario::name() const {
  return fmt::format("{}-{}-{}-{}-{}", to_string(what), to_string(where),
                     length ? fmt::format("{:.1f}s", in_seconds(*length)) : "for-good",
                     off             ? "off"
                     : at_least_once ? "again"
                                     : "dynamic",
                     trainers);
}

std::string scenario::describe() const {
  return fmt::format(
    "{}: seed {}, {} of {} rows, {} workers, {}, at most {} outstanding, lease "
    "{:.1f} s, worker_timeout {:.1f} s, {:.1f} s of reading, from {:.0f} % on{}{}",
    name(), seed, graph, total, workers, job.empty() ? "no job name" : "one job", most_outstanding,
    in_seconds(scale.lease), in_seconds(worker_timeout), in_seconds(reading), 100 * begun,
    what == fault::roll ? workers_first ? ", new ones first" : ", old ones first" : "",
    trainers_too ? ", trainers, too" : "");
}

scenario draw(fault what, place where, std::optional<duration> length, bool off, size_t trainers,
              uint64_t seed, const fault_scale& scale, bool at_least_once) {
  scenario out{what, where, length, off, trainers, seed, scale, at_least_once};
  // The name is a part of the seed, so that the scenarios of a round also have different drawn
  // values.
  std::mt19937_64 random{seed * 0x9e3779b97f4a7c15 + std::hash<std::string>{}(out.name())};
  const auto below = [&](uint64_t n) { return random() % n; };
  constexpr std::array graphs{"range", "map", "filter", "shuffle", "several", "batch"};
  out.workers = 1 + below(3);
  out.graph = graphs.at(below(graphs.size()));
  out.job = trainers > 1 || below(2) == 0 ? "shared" : "";
  out.total = off ? scale.rows / 5 : scale.rows;
  out.most_outstanding = below(3) == 0 ? 200 : 0;
  out.worker_timeout = (below(2) == 0 ? 1 : 3) * scale.lease;
  out.reading = below(2) == 0 ? scale.below : scale.above + scale.lease;
  out.begun = below(2) == 0 ? 0.025 : 0.1;
  out.workers_first = below(2) == 0;
  out.trainers_too = what == fault::end && below(2) == 0;
  return out;
}

std::vector<scenario> short_round(uint64_t seed) {
  std::vector<scenario> out;
  const auto add = [&](fault what, place where, std::optional<duration> length, bool off,
                       size_t trainers) {
    out.push_back(
      draw(what, where, length, off, trainers, seed, length == small.below ? patient : small));
  };
  add(fault::cut, place::data, small.below, false, 2);
  add(fault::cut, place::data, small.above, true, 1);
  add(fault::cut, place::trainer_control, small.above, false, 2);
  add(fault::cut, place::worker_control, small.above, false, 1);
  add(fault::cut, place::data, {}, false, 1);
  add(fault::hold, place::worker_control, small.below, true, 2);
  add(fault::swallow_forth, place::data, small.above, false, 2);
  add(fault::swallow_back, place::trainer_control, small.below, false, 1);
  add(fault::refuse, place::data, small.above, false, 1);
  add(fault::stop, place::dispatcher, small.above, false, 2);
  add(fault::stop, place::worker, small.above, false, 1);
  add(fault::stop, place::trainer, small.below, false, 2);
  add(fault::stop, place::trainer, small.above, false, 2);
  add(fault::kill, place::worker, small.below, false, 2);
  add(fault::kill, place::dispatcher, small.below, false, 1);
  add(fault::kill, place::dispatcher, small.above, false, 2);
  add(fault::kill, place::trainer, {}, false, 2);
  add(fault::slow, place::data, small.above, false, 2);
  add(fault::slow, place::worker_control, small.above, false, 1);
  add(fault::full, place::dispatcher, small.above, false, 2);
  add(fault::clock, place::dispatcher, small.below, false, 2);
  add(fault::roll, place::worker, small.above, false, 1);
  add(fault::roll, place::worker_control, small.above, false, 2);
  for (uint64_t i = 0; i < 2; ++i)
    for (const auto& length : {std::optional{small.below}, std::optional<duration>{}})
      out.push_back(draw(fault::kill, length ? place::worker : place::trainer, length, false, 2,
                         seed + i, small, true));
  for (size_t trainers : {1, 2}) {
    add(fault::end, place::dispatcher, {}, false, trainers);
    add(fault::end, place::dispatcher, {}, true, trainers);
  }
  return out;
}

std::vector<scenario> full_round(uint64_t seed) {
  std::vector<scenario> out;
  const auto add = [&](fault what, place where, std::optional<duration> length, uint64_t at) {
    for (bool off : {false, true})
      for (size_t trainers : {1, 2})
        out.push_back(draw(what, where, length, off, trainers, at, large));
  };
  using lengths = std::vector<std::optional<duration>>;
  for (const auto& length : lengths{large.below, large.above, {}}) {
    for (auto where : {place::data, place::trainer_control, place::worker_control})
      for (auto what : {fault::cut, fault::hold, fault::swallow_forth, fault::swallow_back})
        add(what, where, length, seed);
    add(fault::refuse, place::data, length, seed);
    for (auto where : {place::worker, place::worker_control}) add(fault::roll, where, length, seed);
    for (auto where : {place::dispatcher, place::worker, place::trainer})
      add(fault::stop, where, length, seed);
  }
  for (const auto& length : lengths{large.below, large.above})
    for (auto where : {place::worker, place::dispatcher}) add(fault::kill, where, length, seed);
  for (const auto& length : lengths{large.below, large.above}) {
    for (auto where : {place::data, place::trainer_control, place::worker_control})
      add(fault::slow, where, length, seed);
    add(fault::full, place::dispatcher, length, seed);
    for (auto where : {place::dispatcher, place::worker, place::trainer})
      add(fault::clock, where, length, seed);
  }
  add(fault::kill, place::trainer, {}, seed);
  add(fault::kill, place::dispatcher, {}, seed);
  // The number of trainers follows from the scenario's own seed, so that a round that begins with
  // that seed has the same scenario.
  for (uint64_t i = 0; i < 6; ++i) {
    for (auto where : {place::worker, place::dispatcher})
      out.push_back(
        draw(fault::kill, where, large.below, false, 1 + (seed + i) % 2, seed + i, large, true));
    out.push_back(draw(fault::kill, place::trainer, {}, false, 2, seed + i, large, true));
    out.push_back(draw(fault::roll, place::worker, large.above, false, 1 + (seed + i) % 2, seed + i,
                       large, true));
  }
  for (uint64_t i = 0; i < 25; ++i) add(fault::end, place::dispatcher, {}, seed + i);
  return out;
}

scenario drawn_one(uint64_t seed) {
  std::mt19937_64 random{seed};
  const auto all = full_round(seed);
  for (;;)
    if (const auto& one = all[random() % all.size()]; one.is_possible())
      return one;
}

std::string clock_library() {
  for (const auto* path : {"/usr/lib/x86_64-linux-gnu/faketime/libfaketimeMT.so.1",
                           "/usr/lib/aarch64-linux-gnu/faketime/libfaketimeMT.so.1"})
    if (std::filesystem::exists(path))
      return path;
  return {};
}

bool may_mount() {
  static const bool may =
    ::unshare(CLONE_NEWNS) == 0 && ::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0;
  return may;
}

bool scenario::is_possible() const {
  // A sanitizer's library must be the first that a process loads, but LD_PRELOAD loads the library
  // of the clock before it.
  const bool clocks = !sanitized && !clock_library().empty();
  return (what != fault::full || may_mount()) && (what != fault::clock || clocks);
}

} // namespace headrace::detail::test
