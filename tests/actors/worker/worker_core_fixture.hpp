#pragma once

#include "headrace/actors/worker/worker_core.hpp"
#include "tests/actors/worker/command_text.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace headrace::detail::test {

using texts = std::vector<std::string>;

/// The core of a worker with incarnation 9, and a clock. Heartbeats are 1 s apart, a lease is 5 s,
/// and the time to drain is 500 ms.
class WorkerCore : public testing::Test {
protected:
  using step = worker_core::step;
  static constexpr request_token first{1};
  static constexpr request_token second{2};

  static texts said(const worker::commands& what) { return command_text::of(what); }

  // -- reaching a state; the commands on the way are checked by other tests --------------------

  /// Connects to a dispatcher, which gives this worker the id 5.
  void registered() { registered_again(); }
  worker::commands registered_again() {
    connected();
    return core.registered(connection, worker_registered{worker_id{5}, {seconds(1), seconds(5)}},
                           now);
  }
  worker::commands connected() {
    ++connection;
    return core.dispatcher_up(now);
  }
  static task_order order(uint64_t id) {
    return {.id = task_id{id},
            .life = incarnation{3},
            .job = job_id{70},
            .policy = sharding_policy::dynamic,
            .readers = {task_id{id}, 0, {}}};
  }
  void running(uint64_t id) {
    core.start_task(first, order(id), now);
    core.task_running(task_id{id});
    core.task_taken(task_id{id}, {});
  }
  static worker::task_news news(uint64_t id, uint64_t elements = 0) {
    return {.id = task_id{id},
            .life = incarnation{3},
            .job = job_id{70},
            .counts = {.made = {elements, 8 * elements, 0}, .streams = 1, .restarts = 0},
            .wants = {},
            .ended = {},
            .unread = {}};
  }
  /// Task `id` sends its question `number` about source 0, pass 0.
  worker::commands asks(uint64_t id, uint64_t number) {
    auto what = news(id);
    what.wants = {.which = {0, 0, number}, .total = 100};
    return core.task_reported(what, now);
  }
  worker::commands ends(uint64_t id, uint64_t elements, const status& how = {}) {
    auto what = news(id, elements);
    what.ended = how;
    what.outcome =
      core.leaving() == worker_core::step::staying ? task_outcome::exhausted : task_outcome::left;
    return core.task_reported(what, now);
  }
  /// Task `id` closes a pass of source 0; `rest` are the splits that it has not begun.
  worker::commands closes(uint64_t id, uint64_t pass, uint64_t number, split_range rest) {
    auto what = news(id);
    what.wants = {.which = {0, pass, number}, .closes = unread_splits{0, pass, number, rest}};
    return core.task_reported(what, now);
  }
  /// True if the worker has the task: it accepts the names of the task's readers.
  bool has_task(uint64_t id) {
    const auto out = said(core.name_readers(second, {task_id{id}, 0, {}}));
    return out.back() == "answer 2 ok";
  }
  static lease_answer splits(uint64_t begin, uint64_t count) { return split_range{begin, count}; }
  static duration seconds(int64_t n) { return std::chrono::seconds{n}; }
  static duration millis(int64_t n) { return std::chrono::milliseconds{n}; }
  /// The time advances, and the timer is called if it is due.
  worker::commands after(duration by) {
    now += by;
    const auto at = core.next_deadline();
    return at && *at <= now ? core.timer(now) : worker::commands{};
  }

  time_point now{std::chrono::hours{1}};
  uint64_t connection = 0; ///< the number of the connection, as counted by the core
  worker_core core{{.self = {.id = {},
                             .life = incarnation{9},
                             .data_address = "host:1",
                             .boot_id = "boot",
                             .tags = {"gpu"},
                             .pid = 4},
                    .dispatcher = "there:2",
                    .drain = std::chrono::milliseconds{500},
                    .most_stuck = 2}};
};

} // namespace headrace::detail::test
