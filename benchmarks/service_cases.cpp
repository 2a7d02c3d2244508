#include "benchmarks/cases.hpp"
#include "benchmarks/drain.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <stop_token>
#include <thread>

namespace headrace::detail::bench {

namespace {

constexpr auto off = sharding_policy::off;
constexpr auto dynamic = sharding_policy::dynamic;

double first_element(const service& from) {
  const auto ds = dataset::range(10).apply(from.reads(off));
  return 1e3 * seconds_of([&] { (void)ds.iterate().next(); });
}

double end_seen(const service& from) {
  auto it = dataset::range(10).apply(from.reads(dynamic)).iterate();
  for (int i = 0; i < 10; ++i) it.next().value();
  return 1e3 * seconds_of([&] { (void)it.next(); });
}

double hundred_jobs(const service& from) {
  return seconds_of([&] {
    for (int i = 0; i < 100; ++i) drain_blocks(dataset::range(10).apply(from.reads(off)));
  });
}

/// One thread reads from two consumers of one job in turn. Returns the number of elements of the
/// consumer that got fewer, divided by that of the other one.
double shares(const service& from) {
  static int runs = 0;
  const auto job = "shares " + std::to_string(++runs);
  auto a = dataset::range(20'000).apply(from.reads(dynamic, job)).iterate();
  auto b = dataset::range(20'000).apply(from.reads(dynamic, job)).iterate();
  double first = 0, second = 0;
  for (bool more_a = true, more_b = true; more_a || more_b;) {
    if (more_a)
      first += more_a = a.next().value().has_value();
    if (more_b)
      second += more_b = b.next().value().has_value();
  }
  return std::min(first, second) / std::max(first, second);
}

/// Two consumers of one job read as fast as they can. Returns the milliseconds from the end of the
/// consumer that ends first to the end of the other consumer.
double shares_tail(const service& from) {
  static int runs = 0;
  const auto job = "tail " + std::to_string(++runs);
  using clock = std::chrono::steady_clock;
  const auto read = [&](clock::time_point& ended) {
    auto it = dataset::range(200'000).batch(100).apply(from.reads(dynamic, job)).iterate();
    while (it.next().value()) {
    }
    ended = clock::now();
  };
  clock::time_point first, second;
  {
    std::jthread other{[&] { read(second); }};
    read(first);
  }
  return 1e3 * std::abs(std::chrono::duration<double>(first - second).count());
}

/// The 99th percentile, in milliseconds, of the times of 500 status requests while elements of 1
/// MiB are streamed.
double ping_beside_data(const service& to) {
  std::stop_source stop;
  std::jthread load{[&] {
    auto it = dataset::range(int64_t{1} << 50).batch(1 << 17).apply(to.reads(off)).iterate();
    while (!stop.stop_requested()) (void)it.next_block();
  }};
  std::vector<double> pings;
  for (int i = 0; i < 500; ++i)
    pings.push_back(1e3 * seconds_of([&] { (void)get_service_status(to.target()); }));
  stop.request_stop();
  std::sort(pings.begin(), pings.end());
  return pings[pings.size() * 99 / 100];
}

double resident_mib(int pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmRSS:"))
      return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

} // namespace

void add_service_cases(std::vector<bench_case>& to, services& with) {
  to.push_back(
    {"first_element", "ms", "target", [&with] { return first_element(with.one()); }, fixed(5), 30});
  to.push_back(
    {"end_seen", "ms", "target", [&with] { return end_seen(with.two()); }, fixed(5), 30});
  to.push_back(
    {"jobs_100", "s", "target", [&with] { return hundred_jobs(with.one()); }, fixed(1), 3});
  to.push_back(
    {"shares_2", "ratio", "equal shares", [&with] { return shares(with.two()); }, fixed(1)});
  to.push_back(
    {"shares_tail", "ms", "target", [&with] { return shares_tail(with.two()); }, fixed(10), 30});
  to.push_back({"ping_beside_data", "ms (p99)", "target",
                [&with] { return ping_beside_data(with.one()); }, fixed(5), 3});
  to.push_back({"idle_rss", "MiB", "target",
                [&with] {
                  service idle{with.headrace(), 1};
                  return std::max(resident_mib(idle.dispatcher_pid()),
                                  resident_mib(idle.worker_pid()));
                },
                fixed(30), 1});
}

} // namespace headrace::detail::bench
