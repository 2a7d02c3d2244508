#pragma once

#include "headrace/actors/job/job_core.hpp"
#include "headrace/actors/job/job_record_codec.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <tuple>
#include <vector>

namespace headrace::detail::test {

using job_codec = record_codec<job_record>;

/// A copy of a job's record that was encoded and decoded, and to which the later facts of the
/// original are applied.
class reread_record {
public:
  explicit reread_record(job_record empty) : empty_(std::move(empty)), now_(empty_) {}

  /// `all`: the facts that made `original`. Encodes and decodes those facts that the copy does not
  /// have, and applies them to the copy, which must then be equal to `original`. After that encodes
  /// and decodes `original`; the result must be equal to `original`, and becomes the copy.
  void check(const job_record& original, const std::vector<job_record::fact>& all) {
    const std::vector<job_record::fact> since{all.begin() + static_cast<ptrdiff_t>(followed_),
                                              all.end()};
    const auto facts = job_codec::read_facts(job_codec::write_facts(since));
    ASSERT_TRUE(facts) << to_string(facts.status());
    EXPECT_TRUE(*facts == since) << "facts became others";
    for (const auto& x : *facts) now_.apply(x);
    EXPECT_TRUE(now_ == original) << "what was read went on to another state";
    auto again = job_codec::read_state(job_codec::write_state(original), empty_);
    ASSERT_TRUE(again) << to_string(again.status());
    EXPECT_TRUE(*again == original) << "a state became another";
    now_ = *std::move(again);
    followed_ = all.size();
  }
  /// The copy that the last `check` decoded.
  const job_record& now() const { return now_; }

private:
  job_record empty_;
  job_record now_;
  size_t followed_ = 0;
};

struct same_command {
  template <class A, class B>
  bool operator()(const A&, const B&) const {
    return false; // the answers or commands are of different kinds
  }
  bool operator()(const status& a, const status& b) const { return a == b; }
  bool operator()(const lease_answer& a, const lease_answer& b) const { return a == b; }
  bool operator()(const iteration_view& a, const iteration_view& b) const {
    const auto all = [](const iteration_view& x) {
      return std::tie(x.repetition, x.version, x.tasks, x.lost, x.starting, x.finished, x.shared,
                      x.failure, x.held, x.losses);
    };
    return all(a) == all(b);
  }
  bool operator()(const job_command::store& a, const job_command::store& b) const {
    return a.facts == b.facts;
  }
  bool operator()(const job_command::answer& a, const job_command::answer& b) const {
    return a.to == b.to && std::visit(*this, a.what, b.what);
  }
  bool operator()(const job_command::start_task& a, const job_command::start_task& b) const {
    return a.worker == b.worker && a.what == b.what && a.with_graph == b.with_graph;
  }
  bool operator()(const job_command::stop_task& a, const job_command::stop_task& b) const {
    return a.worker == b.worker && a.task == b.task && a.reason == b.reason;
  }
  bool operator()(const job_command::name_readers& a, const job_command::name_readers& b) const {
    return a.worker == b.worker && a.who == b.who;
  }
  bool operator()(const job_command::announce& a, const job_command::announce& b) const {
    return a.to == b.to && (*this)(a.what, b.what);
  }
  bool operator()(const job_command::drop_reader& a, const job_command::drop_reader& b) const {
    return a.who == b.who;
  }
  bool operator()(const log_line& a, const log_line& b) const { return a == b; }
  bool operator()(const job_command::ended&, const job_command::ended&) const { return true; }
};

inline bool same(const job_commands& a, const job_commands& b) {
  return std::ranges::equal(
    a, b, [](const auto& x, const auto& y) { return std::visit(same_command{}, x, y); });
}

/// Checks that two cores, one with each of the records, return the same commands for the same
/// random events.
inline void expect_same_decisions(const job_description& about, const job_record& one,
                                  const job_record& other, const std::vector<worker_info>& present,
                                  uint64_t seed) {
  std::mt19937_64 random{seed};
  job_core a{about, one, present, 7};
  job_core b{about, other, present, 7};
  time_point now{};
  uint64_t last = 0;
  const auto expect_same = [&](const job_commands& x, const job_commands& y) {
    EXPECT_TRUE(same(x, y)) << "a core over what was read decides otherwise; seed " << seed;
  };
  expect_same(a.start(now), b.start(now));
  for (int i = 0; i < 30 && !testing::Test::HasFailure(); ++i) {
    now += std::chrono::milliseconds{random() % 200};
    const request_token token{++last};
    const auto do_both = [&](auto&& act) { expect_same(act(a), act(b)); };
    std::vector<iteration::task> tasks;
    for (const auto& [number, r] : a.record().repetitions())
      for (const auto& [id, task] : r.state.tasks()) tasks.push_back(task);
    const consumer_id who{random() % 4 + 1};
    const auto kind = random() % 8;
    if (kind == 0) {
      do_both([&](auto& x) { return x.open(token, {.consumer = who}, now); });
    } else if (kind == 1) {
      do_both([&](auto& x) { return x.leave(token, {{who, about.id, 0}, {}}, now); });
    } else if (kind == 2) {
      do_both([&](auto& x) { return x.timer(now); });
    } else if (tasks.empty() || kind == 3) {
      const worker_info fresh{worker_id{90 + random() % 3}, incarnation{1}, "host:1", {}, {}, 0};
      do_both([&](auto& x) { return x.worker_came(fresh, now); });
    } else {
      const auto& task = tasks[random() % tasks.size()];
      if (kind == 4) {
        do_both([&](auto& x) { return x.worker_lost(task.worker.id, now); });
      } else if (kind == 5) {
        do_both([&](auto& x) {
          return x.task_ended(token, {.id = task.id, .life = task.life, .job = about.id}, now);
        });
      } else {
        const auto sources = std::max<size_t>(about.plan.sources.size(), 1);
        const split_question which{static_cast<uint32_t>(random() % sources), random() % 3,
                                   random() % 4};
        do_both([&](auto& x) {
          return x.lease(token, {task.id, task.life, about.id, {.which = which}}, now);
        });
      }
    }
    EXPECT_TRUE(a.record() == b.record());
  }
}

} // namespace headrace::detail::test
