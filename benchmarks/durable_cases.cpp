#include "benchmarks/cases.hpp"
#include "benchmarks/drain.hpp"

#include <stop_token>
#include <thread>

namespace headrace::detail::bench {

namespace {

using namespace std::chrono_literals;

/// Enough elements for two seconds. A job's first leases are small (the very first has one split);
/// in two seconds they are only a small part of all leases.
constexpr int64_t scalars = 400'000'000;
constexpr auto off = sharding_policy::off;
constexpr auto dynamic = sharding_policy::dynamic;

/// A dataset whose job has one lease for each element. Each pass has only 8 splits, and so few
/// splits are leased one by one.
dataset leased_singly(int64_t elements) {
  constexpr int64_t splits = 8;
  return dataset::range(splits).repeat(elements / splits);
}

/// Leases 1,000 splits per second while the object exists.
class leasing {
public:
  explicit leasing(const service& from)
    : reader_(
      [options = distribute_options{.processing_mode = dynamic,
                                    .service = from.target(),
                                    .max_outstanding_requests = 64}](const std::stop_token& stop) {
        auto it = leased_singly(int64_t{1} << 40).apply(distribute{options}).iterate();
        auto next = std::chrono::steady_clock::now();
        while (!stop.stop_requested() && it.next().value()) {
          next += 1ms;
          std::this_thread::sleep_until(next);
        }
      }) {}

private:
  std::jthread reader_;
};

double scalars_beside_leases(const service& from, sharding_policy mode, int64_t count) {
  const leasing load{from};
  return rate(scalars, [&] { drain_blocks(dataset::range(count).apply(from.reads(mode))); });
}

double first_element_beside_leases(const service& from) {
  const leasing load{from};
  const auto ds = dataset::range(10).apply(from.reads(off));
  return 1e3 * seconds_of([&] { (void)ds.iterate().next(); });
}

double leases(const service& from) {
  constexpr int64_t elements = 4'000;
  return rate(elements, [&] { drain_any(leased_singly(elements).apply(from.reads(dynamic))); });
}

} // namespace

void add_durable_cases(std::vector<bench_case>& to, services& with) {
  // Under OFF each of the four workers gives all elements. So the measurement of the limit reads a
  // dataset of a quarter of the size: then the case and its limit deliver the same number of
  // elements.
  to.push_back({"durable_dynamic", "int64/s", "OFF, both beside 1,000 leases/s",
                [&with] { return scalars_beside_leases(with.durable(), dynamic, scalars); },
                [&with] { return scalars_beside_leases(with.durable(), off, scalars / 4); }});
  to.push_back({"durable_first_element", "ms", "target, beside 1,000 leases/s",
                [&with] { return first_element_beside_leases(with.durable()); }, fixed(20), 30});
  to.push_back({"durable_leases", "leases/s", "target", [&with] { return leases(with.durable()); },
                fixed(1'000)});
}

} // namespace headrace::detail::bench
