#pragma once

#include "headrace/client/headrace.hpp"

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// The command line of a trainer process: what it reads, and how fast.
struct trainer_orders {
  std::string dispatcher;
  std::string record;          ///< file of its `reading_record`
  std::string graph = "range"; ///< see `read_graph`
  /// "dynamic" and "off": these sharding policies. "at_least_once": the policy dynamic, with this
  /// guarantee. "cache" and "rounds": the policy off, with a cross-trainer cache (`member` is the
  /// trainer's id) or with coordinated reads (`member` is the trainer's index).
  std::string mode = "dynamic";
  std::string job;   ///< empty: a job of its own
  int64_t total = 0; ///< the number of elements of the range at the source of the graph
  int64_t most_outstanding = 0;
  int64_t worker_timeout_ms = 60'000;
  int64_t pause_us = 0; ///< after each `burst` steps
  int64_t burst = 1;
  int64_t begun_after = 1; ///< the number of elements after which the trainer prints "begun"
  std::string member = "-";
  uint32_t members = 0; ///< rounds: the number of consumers
  bool rejoins = false; ///< rounds: the trainer takes the place of a consumer that is gone
  int64_t most = 0;     ///< the number of elements after which the trainer leaves; 0: it reads all

  std::vector<std::string> arguments() const {
    return {dispatcher,
            record,
            graph,
            mode,
            "job:" + job,
            std::to_string(total),
            std::to_string(most_outstanding),
            std::to_string(worker_timeout_ms),
            std::to_string(pause_us),
            std::to_string(burst),
            std::to_string(begun_after),
            member,
            std::to_string(members),
            rejoins ? "1" : "0",
            std::to_string(most)};
  }
  static trainer_orders parse(const std::vector<std::string>& x) {
    if (x.size() != 15)
      throw std::runtime_error{"a trainer takes 15 arguments, not " + std::to_string(x.size())};
    return {x[0],
            x[1],
            x[2],
            x[3],
            x[4].substr(4),
            std::stoll(x[5]),
            std::stoll(x[6]),
            std::stoll(x[7]),
            std::stoll(x[8]),
            std::stoll(x[9]),
            std::stoll(x[10]),
            x[11],
            static_cast<uint32_t>(std::stoul(x[12])),
            x[13] == "1",
            std::stoll(x[14])};
  }
};

/// The graphs that trainer processes read. All but "batch" give at most one row for each split, so
/// that a split is never lost in part.
inline dataset read_graph(const std::string& name, int64_t total) {
  const auto all = dataset::range(total);
  const auto plain = [](const expr& x) { return x + 0; };
  const auto no_third = [](const expr& x) { return x % 3 != 0; };
  if (name == "range")
    return all;
  if (name == "counter")
    return dataset::counter();
  if (name == "map")
    return all.map(plain);
  if (name == "filter")
    return all.filter(no_third);
  if (name == "shuffle")
    return all.shuffle(500);
  if (name == "several")
    return all.map(plain).filter(no_third).shuffle(300);
  if (name == "batch")
    return all.batch(7);
  throw std::runtime_error{"no graph is called " + name};
}

/// The values of that graph's elements, in ascending order. Trainers may get another order.
inline std::vector<int64_t> elements_of(const std::string& graph, int64_t total) {
  std::vector<int64_t> out;
  const bool no_third = graph == "filter" || graph == "several";
  for (int64_t x = 0; x < total; ++x)
    if (!no_third || x % 3 != 0)
      out.push_back(x);
  return out;
}

} // namespace headrace::detail::test
