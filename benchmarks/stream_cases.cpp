#include "benchmarks/cases.hpp"
#include "benchmarks/drain.hpp"

#include <thread>

namespace headrace::detail::bench {

namespace {

constexpr int64_t scalars = 100'000'000;
constexpr auto off = sharding_policy::off;
constexpr auto dynamic = sharding_policy::dynamic;

double drain_elements(const dataset& from, int64_t count) {
  return rate(count, [&] {
    int64_t sum = 0;
    for (const element& x : from) sum += x[0].as<int64_t>()[0];
    [[maybe_unused]] volatile int64_t kept = sum;
  });
}

double scalars_by_block(const service& from, sharding_policy mode, int64_t count,
                        int64_t delivered) {
  return rate(delivered, [&] { drain_blocks(dataset::range(count).apply(from.reads(mode))); });
}

double batches_by_block(const service& from, sharding_policy mode, int64_t count,
                        int64_t delivered) {
  return rate(delivered,
              [&] { drain_blocks(dataset::range(count).batch(1000).apply(from.reads(mode))); });
}

void add_large(std::vector<bench_case>& to, services& with, std::string name, int64_t bytes,
               int64_t count) {
  to.push_back({std::move(name), "B/s", "framed socket, same size",
                [&with, bytes, count] {
                  const auto ds = dataset::range(count * (bytes / 8)).batch(bytes / 8);
                  return static_cast<double>(bytes)
                         * rate(count, [&] { drain_blocks(ds.apply(with.one().reads(off))); });
                },
                [bytes, count] {
                  return raw_stream_rate(static_cast<size_t>(bytes), static_cast<size_t>(count));
                }});
}

/// Adds a case in which the consumer is in the worker's process, and gets blocks by pointer. Its
/// limit is the rate of a consumer that reads from a worker in another process over loopback.
void add_local(std::vector<bench_case>& to, services& with, std::string name, int64_t bytes,
               int64_t count) {
  const auto read = [bytes, count](const distribute& reads) {
    const auto ds = dataset::range(count * (bytes / 8)).batch(bytes / 8);
    return static_cast<double>(bytes) * rate(count, [&] { drain_any(ds.apply(reads)); });
  };
  to.push_back({std::move(name), "B/s", "loopback, same size",
                [read] {
                  static local_cluster here{{.workers = 1}};
                  return read(distribute{{.processing_mode = off,
                                          .service = here.target(),
                                          .target_workers = target_workers::local}});
                },
                [read, &with] { return read(with.one().reads(off)); }});
}

/// The rate of several consumers together, each of which reads a job of its own. They read for so
/// long that the start of eight jobs takes only a small part of the time.
double fan_in(const service& from, int64_t consumers) {
  constexpr auto count = 8 * scalars;
  return rate(count, [&] {
    std::vector<std::jthread> readers;
    for (int64_t i = 0; i < consumers; ++i)
      readers.emplace_back(
        [&] { drain_blocks(dataset::range(count / consumers).apply(from.reads(dynamic))); });
  });
}

} // namespace

void add_stream_cases(std::vector<bench_case>& to, services& with) {
  const auto off_block = [&with] { return scalars_by_block(with.one(), off, scalars, scalars); };
  to.push_back({"scalars_off_block", "int64/s", "framed socket, blocks of 256 KiB", off_block,
                [] { return raw_stream_rate(256 * 1024, 4 * 800) / 8; }});
  to.push_back({"scalars_off_element", "int64/s", "the same by block",
                [&with] {
                  constexpr auto count = scalars / 4;
                  return drain_elements(dataset::range(count).apply(with.one().reads(off)), count);
                },
                off_block});
  // Under OFF each of the two workers gives all elements. So the limit reads a dataset of half the
  // size, and both sides deliver the same number of elements.
  to.push_back({"scalars_dynamic", "int64/s", "OFF on two workers",
                [&with] { return scalars_by_block(with.two(), dynamic, scalars, scalars); },
                [&with] { return scalars_by_block(with.two(), off, scalars / 2, scalars); }});
  to.push_back({"batched_dynamic", "int64/s", "OFF on two workers",
                [&with] { return batches_by_block(with.two(), dynamic, scalars, scalars); },
                [&with] { return batches_by_block(with.two(), off, scalars / 2, scalars); }});
  add_large(to, with, "large_64k", 64 << 10, 16'000);
  add_large(to, with, "large_1m", 1 << 20, 1'000);
  add_large(to, with, "large_16m", 16 << 20, 60);
  add_local(to, with, "local_64k", 64 << 10, 16'000);
  add_local(to, with, "local_1m", 1 << 20, 1'000);
  add_local(to, with, "local_16m", 16 << 20, 60);
  to.push_back({"at_least_once", "int64/s", "at_most_once",
                [&with] {
                  return rate(scalars, [&] {
                    drain_blocks(dataset::range(scalars).apply(
                      distribute{{.processing_mode = dynamic,
                                  .service = with.two().target(),
                                  .guarantee = delivery_guarantee::at_least_once}}));
                  });
                },
                [&with] { return scalars_by_block(with.two(), dynamic, scalars, scalars); }});
  to.push_back({"fan_in_8", "int64/s", "one consumer alone",
                [&with] { return fan_in(with.two(), 8); },
                [&with] { return fan_in(with.two(), 1); }});
}

} // namespace headrace::detail::bench
