#pragma once

#include "headrace/actors/job/job_record.hpp"

#include <string>
#include <vector>

namespace headrace::detail::test {

/// Two sources that advance together, and one by itself.
inline split_plan three_sources() {
  split_plan out;
  out.sources = {{.splits = 100, .group = 0, .zipped = true},
                 {.splits = 90, .group = 0, .zipped = true},
                 {.group = 1}};
  out.groups = 2;
  out.rows = {.apart = true, .single = true};
  return out;
}
inline job_record empty_job() { return {job_id{5}, sharding_policy::dynamic, three_sources()}; }

inline const worker_info a_worker{
  worker_id{7}, incarnation{8}, "host:9", "boot", {"gpu", ""}, 11, 2};
inline const split_receipt a_receipt{.task = task_id{1},
                                     .reached = {{0, 0, {0, 5}}, {2, 1, {7, 1}}},
                                     .from_pass = 1,
                                     .newest = split_run{2, 1, {7, 1}},
                                     .approximate = true,
                                     .given_back = 3,
                                     .without_given_back = true,
                                     .marks = {9, 8}};

/// Each kind of fact, several times if it has parts that may be absent.
inline std::vector<job_record::fact> every_fact() {
  using it = iteration;
  using sa = split_assigner;
  using lh = lease_history;
  const task_id t{0xabcdef0123456789};
  const consumer_id c{0xfedcba9876543210};
  const auto of = [](auto part, auto what) { return job_record::fact{3, decltype(part){what}}; };
  const auto task = [](it::task_state state) {
    return it::task_is{{task_id{1}, incarnation{2}, a_worker, state, {3, 4, 5}, 6, true, true}};
  };
  const it::fact i;
  const sa::fact s;
  const lh::fact l;
  const held_rows::fact h;
  return {
    {3, job_record::begun{42}},
    {3, job_record::forgotten{}},
    {3, job_record::collected{}},
    of(i, it::reader_joined{c, 5}),
    of(i, it::reader_joined{c, 5, 6, 7}),
    of(i, round_table::proposed{4}),
    of(i, round_table::agreed{{3, 100, {{t, 20}, {task_id{9}, 0}}}}),
    of(i, it::reader_left{c}),
    of(i, it::reader_left{c, {7, UINT64_MAX}}),
    of(i, task(it::task_state::starting)),
    of(i, task(it::task_state::running)),
    of(i, task(it::task_state::ended)),
    of(i, task(it::task_state::failed)),
    of(i, task(it::task_state::lost)),
    of(i, task(it::task_state::left)),
    of(i, it::task_is{}),
    of(i, it::finished_as{}),
    of(i, it::finished_as{unavailable(std::string{"a zero \0 inside", 15})}),
    of(s, sa::shared_by{4}),
    of(s, sa::came_to{t, 1, 2, {}}),
    of(s, sa::came_to{t, 1, 2, 0, split_listing{3, 2, {"a", ""}}}),
    of(s, sa::leased_to{t, 1, 2, {}, split_range{3, 4}}),
    of(s, sa::leased_to{t, 1, 2, 0, pass_over{true, 5}}),
    of(s, sa::task_gone{t}),
    of(s, sa::returned{1, 2, {3, 4}, true}),
    of(s, sa::returned{1, 2, {3, 4}, false}),
    of(s, sa::closed{t, 1, 2}),
    of(l, lh::lost{t, {c, consumer_id{1}}}),
    of(l, lh::received{c, a_receipt}),
    of(l, lh::received{c, {}}),
    of(l, lh::unheard{c, 6}),
    of(l, lh::given{t, 6, a_receipt, 3}),
    of(l, lh::settled{t, {1, 2, 3, 4, 5}}),
    of(l, lh::done{t, {{1, 2}, {2, 3, 4}, {0, 1, 5, true}}}),
    of(l, lh::kept{t}),
    of(l, lh::released{t, {1, 2, 3, 4, 5}}),
    of(h, held_rows::task_over{t, {{c, {5, 4}}, {consumer_id{1}, {6, 0}}}}),
    of(h, held_rows::handed_out{t, c, 5}),
    of(h, held_rows::reader_gone{c}),
  };
}

/// A state in which no part is empty.
inline job_record rich_state() {
  auto out = empty_job();
  for (uint64_t number : {3, 4}) {
    for (auto x : every_fact()) {
      x.repetition = number;
      if (!std::holds_alternative<job_record::forgotten>(x.what)
          && !std::holds_alternative<job_record::collected>(x.what))
        out.apply(x);
    }
    out.apply({number, split_assigner::fact{split_assigner::came_to{task_id{1}, 0, 0, 50}}});
    out.apply({number, split_assigner::fact{
                         split_assigner::leased_to{task_id{1}, 0, 0, 0, split_range{0, 8}}}});
    out.apply({number, split_assigner::fact{
                         split_assigner::leased_to{task_id{2}, 0, 0, 0, split_range{8, 8}}}});
    out.apply({number, lease_history::fact{lease_history::kept{task_id{2}}}});
    out.apply(
      {number, held_rows::fact{held_rows::task_over{task_id{1}, {{consumer_id{1}, {5, 4}}}}}});
    out.apply({number, lease_history::fact{lease_history::lost{task_id{1}, {consumer_id{1}}}}});
    out.apply({number, iteration::fact{iteration::reader_joined{consumer_id{1}, 5}}});
  }
  out.apply({9, job_record::begun{1}});
  out.apply({9, job_record::collected{}});
  for (uint64_t number : {0, 7}) {
    out.apply({number, job_record::begun{1}});
    out.apply({number, iteration::fact{iteration::finished_as{internal_error("why")}}});
    out.apply({number, job_record::forgotten{}});
  }
  return out;
}

} // namespace headrace::detail::test
