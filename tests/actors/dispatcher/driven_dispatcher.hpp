#pragma once

#include "headrace/actors/dispatcher/dispatcher_core.hpp"
#include "headrace/actors/store/fact_store.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// A dispatcher's core with a store. The class passes events to the core, stores the core's facts,
/// and returns the core's commands. When the core commands to run a job, the job is reported as
/// started at once, unless `jobs_run` is false.
class driven_dispatcher {
public:
  using commands = dispatcher_commands;

  explicit driven_dispatcher(service_terms of = {})
    : terms(std::move(of)), core(terms, service_record{}, 42) {
    take(core.start(now));
  }
  /// Replaces the core by another one, which continues with the stored record.
  commands restart() {
    auto [next, record] = store.take_over();
    writer = next;
    core = dispatcher_core{terms, std::move(record), 43};
    return take(core.start(now));
  }

  commands enroll(const std::string& id, int64_t n = 10, bool for_iteration = false) {
    const auto graph = encode_graph(make_range(0, n, 1).value()).value();
    return take(core.register_dataset(next(), {.id = id,
                                               .graph = graph,
                                               .fingerprint = fingerprint(graph),
                                               .for_iteration = for_iteration}));
  }
  commands open(uint64_t consumer, const std::string& dataset, const std::string& name = {},
                sharding_policy policy = sharding_policy::off, job_id job = {},
                delivery_guarantee guarantee = delivery_guarantee::at_most_once) {
    return take(core.open_iteration(next(), {.consumer = consumer_id{consumer},
                                             .dataset_id = dataset,
                                             .job_name = name,
                                             .parameters = {.mode = policy, .guarantee = guarantee},
                                             .job = job}));
  }
  /// Does the same as `open` for the given repetition.
  commands open_repetition(uint64_t consumer, const std::string& dataset, const std::string& name,
                           uint64_t repetition) {
    return take(core.open_iteration(next(), {.consumer = consumer_id{consumer},
                                             .dataset_id = dataset,
                                             .job_name = name,
                                             .repetition = repetition}));
  }
  /// As `open`, for a graph without an id. If `with_graph` is false, only its fingerprint is sent.
  commands open_new(uint64_t consumer, bool with_graph, const std::string& name = {},
                    int64_t n = 10) {
    auto graph = encode_graph(make_range(0, n, 1).value()).value();
    dataset_registration dataset{.graph = {}, .fingerprint = fingerprint(graph)};
    if (with_graph)
      dataset.graph = std::move(graph);
    return take(core.open_iteration(
      next(),
      {.consumer = consumer_id{consumer}, .dataset = std::move(dataset), .job_name = name}));
  }
  commands for_job(job_id job) { return take(core.for_job(next(), job)); }
  commands add_worker(const std::string& address, uint64_t life = 1, worker_id known = {},
                      std::vector<running_task> tasks = {}) {
    return take(core.register_worker(
      next(), {{known, incarnation{life}, address, {}, {}, 0}, std::move(tasks)}, now));
  }
  commands started(job_id id) { return take(core.job_started(id)); }
  commands take(commands out) {
    for (size_t i = 0; i < out.size(); ++i) {
      if (const auto* x = std::get_if<dispatcher_command::store>(&out[i])) {
        EXPECT_TRUE(store.append(writer, x->facts, {})->ok());
      }
      if (const auto* x = std::get_if<dispatcher_command::run_job>(&out[i]); x && jobs_run) {
        auto more = take(core.job_started(x->what.id));
        out.insert(out.end(), more.begin(), more.end());
      }
    }
    EXPECT_TRUE(store.record() == core.record()) << "the store recovers another state";
    return out;
  }

  service_terms terms;
  time_point now{};
  bool jobs_run = true;
  request_token last{}; ///< the token of the last request
  memory_store<service_record> store{service_record{}};
  uint64_t writer = store.take_over().writer;
  dispatcher_core core;

private:
  request_token next() { return last = request_token{last.value + 1}; }
};

/// The commands of one kind.
template <class T>
std::vector<T> all_of(const dispatcher_commands& from) {
  std::vector<T> out;
  for (const auto& x : from)
    if (const auto* one = std::get_if<T>(&x))
      out.push_back(*one);
  return out;
}
/// The answer to a request. If there is no answer of type `T`, the test fails.
template <class T>
T answer_to(const request_token& request, const dispatcher_commands& from) {
  for (const auto& x : all_of<dispatcher_command::answer>(from))
    if (x.to == request)
      if (const auto* what = std::get_if<T>(&x.what))
        return *what;
  ADD_FAILURE() << "no such answer";
  return {};
}

} // namespace headrace::detail::test
