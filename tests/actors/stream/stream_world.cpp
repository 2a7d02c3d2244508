#include "tests/actors/stream/stream_world.hpp"

#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/runtime/base/overloaded.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace::detail {

namespace {

using namespace std::chrono_literals;
constexpr lease_timing world_timing{1s, 5s};

} // namespace

stream_world::stream_world(options o) : options_(o) {
  if (o.cache)
    windows = window_store::make(o.cache_bytes);
  for (size_t i = 0; i < o.tasks; ++i) make_task();
}

void stream_world::make_task() {
  const auto t = tasks.size();
  std::unique_ptr<dealer> output;
  if (options_.cache)
    output = std::make_unique<window_output>(
      windows, window_output::options{.terms = *options_.cache, .lease = world_timing.lease});
  tasks.emplace_back().core = std::make_unique<task_core>(
    task_order{.id = id_of(t),
               .life = incarnation{1},
               .job = job_id{7},
               .policy = options_.cache ? sharding_policy::off : sharding_policy::dynamic,
               .shared = options_.shared,
               .readers = {.task = id_of(t), .consumers = {}},
               .lease = world_timing.lease,
               .guarantee = options_.guarantee,
               .cache = options_.cache},
    make_range(0, 1'000'000'000, 1).value(), task_limits{}, logger{}, std::move(output));
  tasks.back().core->when_room_comes([this, t] { tasks[t].room = true; });
}

void stream_world::add_task() {
  const auto t = tasks.size();
  make_task();
  for (auto& [id, c] : consumers) c.pipes[t];
  name_readers();
  tell();
}

// -- tasks ----------------------------------------------------------------------------------

void stream_world::produce(size_t t, size_t rows) {
  auto& x = tasks[t];
  ASSERT_TRUE(x.runs) << "nobody opened a stream to task " << t;
  const auto first = x.produced;
  x.produced += static_cast<int64_t>(rows);
  x.outstanding += 8 * rows;
  carry_out(t, x.core->produced(x.run, numbers(value(t, first), rows), now));
}

void stream_world::run(size_t t) {
  auto& x = tasks[t];
  auto start = x.core->runner_begins(++x.run);
  x.runs = static_cast<bool>(start);
  x.outstanding = 0;
  if (start) {
    EXPECT_EQ(start->skip_rows, static_cast<uint64_t>(x.produced));
  }
}

void stream_world::exhaust(size_t t) {
  auto& x = tasks[t];
  if (x.over || x.lost || !x.runs || std::exchange(x.exhausted, true))
    return;
  carry_out(t, x.core->run_ended(x.run, {}, false, now));
}

void stream_world::leave_task(size_t t) {
  auto& x = tasks[t];
  if (x.over || x.lost || x.away || std::exchange(x.left, true))
    return;
  carry_out(t, x.core->worker_leaves(now));
  exhaust(t);
}

void stream_world::lose_task(size_t t, bool for_good) {
  auto& x = tasks[t];
  if (x.over || x.lost || x.away)
    return;
  x.away = true;
  x.lost = for_good;
  if (for_good)
    x.names.clear();
  for (auto& [id, c] : consumers) cut(id, t);
  tell();
}

void stream_world::find_task(size_t t) {
  auto& x = tasks[t];
  if (x.lost || !std::exchange(x.away, false))
    return;
  tell();
}

void stream_world::crash_runner(size_t t) {
  auto& x = tasks[t];
  if (x.over || x.lost || x.exhausted || !x.runs)
    return;
  carry_out(t, x.core->runner_crashed(aborted("crashed"), now));
  run(t);
}

void stream_world::crash_task(size_t t) {
  auto& x = tasks[t];
  if (x.over || x.lost)
    return;
  x.runs = false;
  carry_out(t, x.core->taken_over(now));
  // The actor that replaces the crashed one does not have the streams.
  for (auto& [id, c] : consumers)
    if (const auto at = c.pipes.find(t); at != c.pipes.end())
      at->second.known.clear();
}

void stream_world::task_over(size_t t) {
  if (!std::exchange(tasks[t].over, true))
    tell();
}

void stream_world::carry_out(size_t t, const produce::commands& what) {
  for (const auto& one : what)
    std::visit(
      overloaded{
        [&](const produce::send& x) { send_down(t, x); },
        [&](const produce::close_link& x) {
          if (const auto who = whose_.find(x.over); who != whose_.end())
            cut(who->second, t);
        },
        [&](const produce::start_runner&) {
          if (!tasks[t].runs)
            run(t);
        },
        [&](const produce::give_splits&) { ADD_FAILURE() << "nobody asked"; },
        [&](const produce::take_over_bytes& x) {
          EXPECT_LE(x.bytes, tasks[t].outstanding);
          tasks[t].outstanding -= x.bytes;
        },
        [&](const produce::leave_runner&) { carry_out(t, tasks[t].core->runner_left({}, now)); },
        [&](const produce::report& x) {
          EXPECT_TRUE(x.what.ended.value_or(status{}).ok()) << to_string(*x.what.ended);
          note_losses(t, x.what);
        },
        [&](const produce::end&) { task_over(t); },
      },
      one);
}

void stream_world::note_losses(size_t t, const task_report& what) {
  auto& x = tasks[t];
  if (what.wants && what.wants->wish.given) {
    x.lost_with_readers = what.wants->wish.given->lost;
    x.accounts.push_back(what.wants->wish.which);
  }
  if (!what.ended)
    return;
  // When a task ends, it also reports the elements that were lost with readers that are gone,
  // unless the job has acknowledged an account of these elements.
  uint64_t lost = 0;
  for (const auto& [who, marks] : what.held)
    if (!readers_.contains(who.value))
      lost += marks.received - marks.handed_out;
  x.lost_with_readers = std::max(x.lost_with_readers, lost);
}

void stream_world::note_beginnings(size_t t) {
  if (const auto window = tasks[t].core->numbers().window)
    for (const auto& x : window->trainers)
      // The trainer has joined just now, so it was handed nothing: its lag and the elements that it
      // skipped give the first position.
      tasks[t].began.try_emplace(x.id, window->end - x.lag - x.skipped);
}

void stream_world::deliver_room(size_t t) {
  if (auto& x = tasks[t]; std::exchange(x.room, false) && !x.lost && !x.over)
    carry_out(t, x.core->room_came(now));
}

void stream_world::send_down(size_t t, const produce::send& what) {
  const auto who = whose_.find(what.over);
  if (who == whose_.end() || !consumers.contains(who->second))
    return;
  auto& p = consumers.at(who->second).pipes.at(t);
  if (!p.known.contains(what.over))
    return;
  EXPECT_TRUE(p.connected) << "sent to a stream that is cut";
  if (const auto* rows = std::get_if<stream_block>(&what.what)) {
    ++blocks_sent;
    const auto end = rows->first + rows->rows.rows;
    EXPECT_LE(end, std::max(p.granted.elements, p.highest_sent)) << "more than was granted";
    if (end > p.highest_sent) {
      EXPECT_LE(8 * (end - p.known_handed_out), p.granted.bytes + 8) << "more bytes than granted";
    }
    p.highest_sent = std::max(p.highest_sent, end);
    for (auto x : rows->rows.columns[0].values<int64_t>()) p.sent.insert(x);
  } else if (std::holds_alternative<stream_recall>(what.what)) {
    ++recalls_sent;
  }
  p.down.emplace_back(what.over, what.what);
}

// -- the job ----------------------------------------------------------------------------------

iteration_view stream_world::view() const {
  iteration_view out{.job = job_id{7},
                     .version = version_,
                     .tasks = {},
                     .lost = {},
                     .shared = options_.shared,
                     .failure = {},
                     .timing = world_timing};
  out.finished = true;
  for (size_t t = 0; t < tasks.size(); ++t) {
    const auto& x = tasks[t];
    if (x.away || x.lost)
      out.lost.push_back(id_of(t));
    else if (!x.over)
      out.tasks.push_back({id_of(t), incarnation{1}, std::to_string(t), "", worker_id{t + 1}});
    out.finished &= x.over || x.lost;
  }
  return out;
}

void stream_world::tell() {
  ++version_;
  for (auto& [id, c] : consumers) c.news.push_back(view());
}

void stream_world::name_readers() {
  ++readers_version_;
  for (size_t t = 0; t < tasks.size(); ++t) {
    task_readers who{.task = id_of(t), .version = readers_version_, .consumers = {}};
    for (const auto& [id, until] : readers_) who.consumers.push_back(consumer_id{id});
    if (!tasks[t].over && !tasks[t].lost)
      tasks[t].names.emplace_back(now, std::move(who));
  }
}

void stream_world::answer_beat(uint64_t id, time_point at) {
  auto& c = consumers.at(id);
  if (c.silent && readers_.contains(id))
    return; // the heartbeat is lost, and the consumer sends another one
  if (!readers_.contains(id))
    return carry_out(id, c.core->heartbeat_answered(not_found("no such reader"), at, now));
  c.heard_at = now;
  carry_out(id, c.core->heartbeat_answered({}, at, now));
}

// -- consumers ----------------------------------------------------------------------------------

uint64_t stream_world::come(std::string trainer, cache_start start) {
  const auto id = ++last_consumer_;
  auto& c = consumers[id];
  c.out = std::make_shared<handout>([&c] { c.woken = true; });
  c.core = std::make_unique<consumer_core>(
    consumer_options{.dataset_id = "d",
                     .job_name = "j",
                     // Only under OFF may a lost task come back.
                     .parameters = {.mode = sharding_policy::off,
                                    .guarantee = options_.guarantee,
                                    .cross_trainer_cache = options_.cache},
                     .trainer = trainer,
                     .start = start,
                     .max_outstanding = static_cast<int64_t>(options_.most_elements * tasks.size()),
                     .worker_timeout = 1h,
                     .stream_bytes = options_.stream_bytes},
    consumer_id{id}, "dispatcher:1", c.out, logger{}, now);
  c.heard_at = now;
  c.trainer = std::move(trainer);
  readers_[id];
  name_readers();
  for (size_t t = 0; t < tasks.size(); ++t) c.pipes[t];
  carry_out(id, c.core->dispatcher_up(now));
  for (size_t t = 0; t < tasks.size(); ++t) connect(id, t);
  return id;
}

void stream_world::silence(uint64_t id) {
  auto& c = consumers.at(id);
  if (!std::exchange(c.silent, true))
    readers_.at(id) = c.heard_at + world_timing.lease;
}

void stream_world::bury(uint64_t id) {
  auto node = consumers.extract(id);
  for (auto& [t, p] : node.mapped().pipes) {
    ASSERT_LE(p.known_handed_out, p.handed_out.size());
    const auto counted = unreported_again() ? p.known_handed_out : p.handed_out.size();
    for (size_t i = 0; i < counted; ++i) {
      ++of_the_gone_[p.handed_out[i]];
      gone_handed_out[node.mapped().trainer].push_back(p.handed_out[i]);
    }
    with_the_gone_.insert(p.got.begin(), p.got.end());
    sent_to_the_gone_.insert(p.sent.begin(), p.sent.end());
  }
}

void stream_world::die(uint64_t id) {
  for (size_t t = 0; t < tasks.size(); ++t) cut(id, t);
  // The job removes the consumer a lease after the last heartbeat that it received.
  if (const auto at = readers_.find(id); at != readers_.end())
    at->second = consumers.at(id).heard_at + world_timing.lease;
  bury(id);
}

void stream_world::die_in_next(uint64_t id) {
  if (auto& c = consumers.at(id); c.current && c.out->claim() >= 0) {
    look(id);
    for (size_t t = 0; t < tasks.size(); ++t)
      while (deliver_up(id, t)) {
      }
  }
  die(id);
}

void stream_world::go(uint64_t id) {
  carry_out(id, consumers.at(id).core->trainer_leaves(now));
  for (size_t t = 0; t < tasks.size(); ++t)
    while (deliver_up(id, t)) {
    }
  for (size_t t = 0; t < tasks.size(); ++t) cut(id, t);
  bury(id);
  if (readers_.erase(id) != 0)
    name_readers();
}

void stream_world::carry_out(uint64_t id, const consume::commands& what) {
  std::vector<size_t> not_opened;
  const auto index = [](task_id x) { return static_cast<size_t>(x.value - 1); };
  for (const auto& one : what) {
    auto& c = consumers.at(id);
    std::visit(
      overloaded{
        [&](const consume::ask& x) { carry_out(id, c.core->answered(x.number, view(), now)); },
        [&](const consume::beat& x) { answer_beat(id, x.at); },
        [](const consume::say_goodbye&) {},
        [](const consume::quit&) {},
        [](const consume::renew_dispatcher&) {},
        [&](const consume::make_link& x) { c.pipes.at(std::stoul(x.address)).linking = true; },
        [&](const consume::open_stream& x) {
          auto& p = c.pipes.at(index(x.task));
          if (!p.connected || p.cut_unseen)
            return not_opened.push_back(index(x.task));
          p.key = produce::stream_key{++last_key_};
          whose_[p.key] = id;
        },
        [&](const consume::send& x) {
          auto& p = c.pipes.at(index(x.task));
          if (p.connected && !p.cut_unseen && p.key)
            p.up.emplace_back(p.key, x.what);
        },
        [&](const consume::close_stream& x) { c.pipes.at(index(x.task)).key = {}; },
      },
      one);
  }
  for (auto t : not_opened)
    carry_out(id, consumers.at(id).core->stream_cut(id_of(t), unavailable("it is over"), now));
}

} // namespace headrace::detail
