#pragma once

#include "headrace/runtime/supervision/core.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

namespace headrace::detail::test {

using namespace std::chrono_literals;
using enum supervision_strategy;
using enum restart_policy;

inline const status normal;
inline const status crash = internal_error("division by zero");

/// A supervisor's core whose children are only names in a set. Its commands are carried out at once
/// and recorded as words.
class Supervision : public testing::Test {
protected:
  void make(supervision_strategy strategy, uint32_t max_restarts = 3) {
    supervision_options options{.path = "node",
                                .strategy = strategy,
                                .max_restarts = max_restarts,
                                .within = 10s,
                                .backoff = {.first = 100ms, .longest = 1s, .jitter = 0},
                                .kill_budget = 1s};
    core.emplace(options);
  }
  void children(restart_policy restart) {
    for (auto id : {"a", "b", "c"}) carry_out(core->add({id, restart, 2s}, now).value());
    log.clear();
  }
  void carry_out(const supervise::commands& commands) {
    for (auto& x : commands) std::visit([this](auto& y) { carry_out(y); }, x);
  }
  void carry_out(const supervise::start& x) {
    log += "+" + x.id + " ";
    run[x.id] = x.run;
    alive.insert(x.id);
  }
  void carry_out(const supervise::stop& x) {
    log += "-" + x.id + " ";
    EXPECT_EQ(run[x.id], x.run);
  }
  void carry_out(const supervise::kill& x) { log += "!" + x.id + " "; }
  void carry_out(const supervise::abandon& x) {
    log += "?" + x.id + " ";
    alive.erase(x.id);
  }
  void carry_out(const supervise::schedule& x) { timer = x; }
  void carry_out(const supervise::drop& x) {
    log += "x" + x.id + " ";
    cause = x.why;
  }
  void carry_out(const supervise::stopped&) { log += "stopped "; }
  void carry_out(const supervise::give_up& x) {
    log += "gave up ";
    cause = x.why;
  }
  void exit(const std::string& id, const status& why) {
    alive.erase(id);
    carry_out(core->exited(id, run[id], why, now));
  }
  /// Waits for the timer that the core has set.
  void wait() {
    ASSERT_TRUE(timer);
    auto due = *std::exchange(timer, std::nullopt);
    now = std::max(now, due.at);
    carry_out(core->timer(due.epoch, now));
  }
  std::string taken() { return std::exchange(log, {}); }
  supervisor_snapshot::child seen(const std::string& id) {
    for (auto& x : core->snapshot().children)
      if (x.id == id)
        return x;
    return {.id = "none"};
  }

  std::optional<supervision_core> core;
  time_point now = time_point{} + 1h;
  std::map<std::string, uint64_t> run;
  std::set<std::string> alive;
  std::optional<supervise::schedule> timer;
  std::string log;
  status cause;
};

} // namespace headrace::detail::test
