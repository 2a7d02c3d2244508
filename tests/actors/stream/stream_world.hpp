#pragma once

#include "headrace/actors/stream/handout.hpp"
#include "headrace/actors/stream/stream_credit.hpp"
#include "headrace/actors/stream/task_output.hpp"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <numeric>
#include <set>
#include <variant>
#include <vector>

namespace headrace {

/// A block of int64 scalars `first`, `first + 1`, ...
inline block numbers(int64_t first, size_t rows) {
  std::vector<int64_t> xs(rows);
  std::iota(xs.begin(), xs.end(), first);
  block out;
  out.rows = rows;
  out.columns.push_back(column::of_scalars<int64_t>(xs));
  return out;
}

/// Tasks and consumers joined by pipes that keep their order, can be cut with all that is in them,
/// and deliver a message when told to. What the actors do with the cores, without actors, threads
/// or time. Keeps the books on every element.
class stream_world {
public:
  struct options {
    size_t tasks = 1;
    bool shared = true;
    uint64_t most_elements = 0; ///< per stream; 0: no bound
    uint64_t stream_bytes = 4096;
  };
  struct open_msg {
    uint64_t received, handed_out;
  };
  struct grant_msg {
    uint64_t handed_out;
    stream_credit::window window;
    bool waiting;
  };
  struct recalled_msg {
    uint64_t id, mark;
  };
  struct close_msg {};
  using up_msg = std::variant<open_msg, grant_msg, recalled_msg, close_msg>;

  struct pipe {
    bool connected = false;
    std::deque<up_msg> up;
    std::deque<task_output::action> down;
    stream_credit credit;
    bool opened = false;
    bool ended = false;              ///< the consumer heard it
    uint64_t known_handed_out = 0;   ///< by the task
    uint64_t granted = 0;            ///< the task knows
    uint64_t highest_sent = 0;       ///< ever
    std::vector<int64_t> handed_out; ///< to the trainer
  };
  struct task {
    explicit task(bool shared) : out(shared) {}
    task_output out;
    int64_t produced = 0;
    bool exhausted = false;
  };
  struct consumer {
    bool woken = false;
    std::unique_ptr<handout> out;
    std::shared_ptr<const block> current;
    bool at_end = false;
    size_t taken = 0;
    std::map<size_t, pipe> pipes; ///< by task
  };

  explicit stream_world(options o) : options_(o) {
    for (size_t i = 0; i < o.tasks; ++i) tasks.emplace_back(o.shared);
  }

  static int64_t value(size_t task, int64_t index) {
    return static_cast<int64_t>(task) * 1'000'000'000 + index;
  }
  static task_id id_of(size_t task) { return task_id{task + 1}; }

  // -- events -------------------------------------------------------------------

  void produce(size_t t, size_t rows) {
    tasks[t].out.produced(numbers(value(t, tasks[t].produced), rows));
    tasks[t].produced += static_cast<int64_t>(rows);
    deal(t);
  }
  void exhaust(size_t t) {
    if (std::exchange(tasks[t].exhausted, true))
      return;
    tasks[t].out.exhausted();
    deal(t);
  }
  /// Nothing was produced for a while.
  void run_dry(size_t t) {
    if (tasks[t].out.could_recall())
      deal(t, true);
  }
  uint64_t come() {
    const auto id = ++last_consumer_;
    auto& c = consumers[id];
    c.out = std::make_unique<handout>([&c] { c.woken = true; });
    for (size_t t = 0; t < tasks.size(); ++t) connect(id, t);
    return id;
  }
  void connect(uint64_t id, size_t t) {
    auto& c = consumers.at(id);
    auto& p = c.pipes[t];
    if (p.connected || p.ended)
      return;
    if (!std::exchange(p.opened, true))
      p.credit = stream_credit{options_.shared, options_.most_elements, options_.stream_bytes};
    p.connected = true;
    const auto marks = c.out->of(id_of(t));
    const auto waiting = c.out->waiting();
    p.credit.reopened(progress(marks, waiting, p));
    p.up.push_back(open_msg{marks.received, marks.handed_out});
    p.up.push_back(grant_msg{marks.handed_out, p.credit.now(marks.handed_out), waiting});
  }
  void cut(uint64_t id, size_t t) {
    auto& p = consumers.at(id).pipes.at(t);
    if (!p.connected)
      return;
    p.connected = false;
    p.up.clear();
    p.down.clear();
    tasks[t].out.cut(consumer_id{id});
    deal(t);
  }
  /// Dies without a word; the tasks hear of it at once (their lease on it is over).
  void die(uint64_t id) {
    auto node = consumers.extract(id);
    for (auto& [t, p] : node.mapped().pipes) {
      keep_books(p, p.known_handed_out);
      tasks[t].out.leave(consumer_id{id});
      deal(t);
    }
  }
  /// Leaves in order: what it says last arrives.
  void go(uint64_t id) {
    auto& c = consumers.at(id);
    for (auto& [t, p] : c.pipes)
      if (p.connected) {
        p.up.push_back(grant_msg{c.out->of(id_of(t)).handed_out, {}, false});
        p.up.push_back(close_msg{});
        while (!p.up.empty()) deliver_up(id, t);
      }
    die(id);
  }
  bool deliver_up(uint64_t id, size_t t) {
    auto& p = consumers.at(id).pipes.at(t);
    if (p.up.empty())
      return false;
    const auto what = std::move(p.up.front());
    p.up.pop_front();
    auto& out = tasks[t].out;
    const consumer_id who{id};
    if (auto* open = std::get_if<open_msg>(&what)) {
      out.open(who, open->received, open->handed_out);
      p.known_handed_out = std::max(p.known_handed_out, open->handed_out);
    } else if (auto* grant = std::get_if<grant_msg>(&what)) {
      out.grant(who, grant->handed_out, grant->window.elements, grant->window.bytes,
                grant->waiting);
      p.known_handed_out = std::max(p.known_handed_out, grant->handed_out);
      p.granted = grant->window.elements;
    } else if (auto* recalled = std::get_if<recalled_msg>(&what)) {
      out.recalled(who, recalled->id, recalled->mark);
    } else {
      out.leave(who);
    }
    deal(t);
    return true;
  }
  bool deliver_down(uint64_t id, size_t t) {
    auto& c = consumers.at(id);
    auto& p = c.pipes.at(t);
    if (p.down.empty())
      return false;
    auto what = std::move(p.down.front());
    p.down.pop_front();
    if (auto* rows = std::get_if<task_output::send_block>(&what)) {
      const auto received = c.out->of(id_of(t)).received;
      EXPECT_LE(rows->first, received) << "a gap";
      if (const auto known = received - rows->first; known < rows->rows.rows)
        c.out->add(id_of(t), rows->rows.slice(known, rows->rows.rows - known));
      const auto now = c.out->of(id_of(t));
      EXPECT_LE(now.received - now.handed_out, p.credit.now(0).elements);
    } else if (auto* recall = std::get_if<task_output::send_recall>(&what)) {
      p.up.push_back(recalled_msg{recall->id, c.out->recall(id_of(t), recall->keep)});
      refill(id, true);
    } else {
      p.ended = true;
      refill(id, false);
      EXPECT_EQ(std::get<task_output::send_end>(what).elements, c.out->of(id_of(t)).received);
      if (std::all_of(c.pipes.begin(), c.pipes.end(), [](auto& e) { return e.second.ended; }))
        c.out->finish({});
    }
    return true;
  }
  static stream_credit::progress progress(const handout::marks& m, bool waiting, const pipe& p) {
    return {m.handed_out, m.received, m.bytes, m.taken_bytes, waiting, p.ended};
  }
  /// The consumer actor looks at the marks.
  void refill(uint64_t id, bool always) {
    auto& c = consumers.at(id);
    c.woken = false;
    auto quiet = stream_credit::unbounded;
    for (const auto& [t, p] : c.pipes)
      quiet = std::min(quiet, p.ended ? 0 : p.credit.quiet_bytes());
    bool waiting = false;
    for (const auto& [task, m] : c.out->look(waiting, quiet)) {
      auto& p = c.pipes.at(task.value - 1);
      if (p.connected && p.credit.update(progress(m, waiting, p), always))
        p.up.push_back(grant_msg{m.handed_out, p.credit.now(m.handed_out), waiting});
    }
  }
  enum class step { element, waits, over };
  /// The trainer asks for one element.
  step take(uint64_t id) {
    auto& c = consumers.at(id);
    for (;;) {
      if (c.current) {
        if (const auto row = c.out->claim(); row >= 0) {
          const auto x = c.current->columns[0].values<int64_t>()[static_cast<size_t>(row)];
          c.pipes.at(static_cast<size_t>(x / 1'000'000'000)).handed_out.push_back(x);
          ++c.taken;
          return step::element;
        }
      }
      status how;
      const auto next = c.out->try_next(c.current, how);
      if (next == handout::outcome::nothing_yet)
        return step::waits;
      if (next == handout::outcome::over) {
        EXPECT_TRUE(how.ok()) << to_string(how);
        c.at_end = true;
        return step::over;
      }
    }
  }
  /// Delivers everything that is under way, and what follows from it. Returns how many messages;
  /// gives up at `most`.
  size_t settle(size_t most = 100'000) {
    size_t n = 0;
    for (bool moved = true; moved && n < most;) {
      moved = false;
      for (auto& [id, c] : consumers) {
        if (c.woken)
          refill(id, false);
        for (auto& [t, p] : c.pipes) {
          while (n < most && deliver_up(id, t)) moved = true, ++n;
          while (n < most && deliver_down(id, t)) moved = true, ++n;
        }
      }
    }
    return n;
  }
  /// As a blocking `next` of a trainer while nobody else's trainer moves.
  step next(uint64_t id) {
    for (int i = 0; i < 10'000; ++i) {
      if (const auto s = take(id); s != step::waits)
        return s;
      if (settle() == 0) {
        ADD_FAILURE() << "consumer " << id << " waits and nothing is under way";
        return step::over;
      }
    }
    ADD_FAILURE() << "consumer " << id << " waits for ever";
    return step::over;
  }

  // -- books --------------------------------------------------------------------

  /// Elements that counted as handed out: by the living, and by the dead as far as they reported.
  std::map<int64_t, size_t> all_handed_out() const {
    auto out = of_the_gone_;
    for (const auto& [id, c] : consumers)
      for (const auto& [t, p] : c.pipes)
        for (auto x : p.handed_out) ++out[x];
    return out;
  }
  void expect_each_element_once() const {
    const auto seen = all_handed_out();
    size_t produced = 0;
    for (size_t t = 0; t < tasks.size(); ++t) {
      produced += static_cast<size_t>(tasks[t].produced);
      for (int64_t i = 0; i < tasks[t].produced; ++i) {
        const auto at = seen.find(value(t, i));
        ASSERT_TRUE(at != seen.end()) << "element " << i << " of task " << t << " was lost";
        ASSERT_EQ(at->second, 1u) << "element " << i << " of task " << t;
      }
    }
    EXPECT_EQ(seen.size(), produced);
  }

  options options_;
  std::deque<task> tasks;
  std::map<uint64_t, consumer> consumers;
  size_t blocks_sent = 0;
  size_t recalls_sent = 0;

private:
  void keep_books(const pipe& p, uint64_t reported) {
    ASSERT_LE(reported, p.handed_out.size());
    for (size_t i = 0; i < reported; ++i) ++of_the_gone_[p.handed_out[i]];
  }
  void deal(size_t t, bool dry = false) {
    for (auto& a : tasks[t].out.deal(dry)) {
      const auto to = std::visit([](const auto& x) { return x.to.value; }, a);
      auto& p = consumers.at(to).pipes.at(t);
      ASSERT_TRUE(p.connected) << "sent to a stream that is cut";
      if (const auto* rows = std::get_if<task_output::send_block>(&a)) {
        ++blocks_sent;
        const auto end = rows->first + rows->rows.rows;
        EXPECT_LE(end, std::max(p.granted, p.highest_sent)) << "more than was granted";
        p.highest_sent = std::max(p.highest_sent, end);
      } else if (std::holds_alternative<task_output::send_recall>(a)) {
        ++recalls_sent;
      }
      p.down.push_back(std::move(a));
    }
    EXPECT_LE(tasks[t].out.retained_bytes(), consumers.size() * (options_.stream_bytes + 8));
  }

  uint64_t last_consumer_ = 0;
  std::map<int64_t, size_t> of_the_gone_;
};

} // namespace headrace
