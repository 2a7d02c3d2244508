#include "benchmarks/cases.hpp"
#include "benchmarks/drain.hpp"
#include "benchmarks/sample_files.hpp"

#include <condition_variable>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <thread>

namespace headrace::detail::bench {

namespace {

constexpr auto off = sharding_policy::off;
constexpr auto dynamic = sharding_policy::dynamic;
constexpr int64_t scalars = 100'000'000;
constexpr int64_t crowd = 200;
constexpr int file_count = 10'000;

std::string job_of_its_own() {
  static int runs = 0;
  return "overload " + std::to_string(++runs);
}

/// Reads numbers in a job that only this consumer reads.
double read_own_job(const service& from) {
  return rate(scalars, [&] { drain_blocks(dataset::range(scalars).apply(from.reads(off))); });
}

/// As `read_own_job`, while a consumer of another, endless job has taken one element and takes no
/// more.
double beside_stalled(const service& from) {
  auto stalled = dataset::range(int64_t{1} << 50).batch(1000).apply(from.reads(off)).iterate();
  stalled.next().value();
  return read_own_job(from);
}

/// The rate of the only consumer of a new job with a name, which others could join.
double read_shared_job(const service& from) {
  return rate(scalars, [&] {
    drain_blocks(dataset::range(scalars).apply(from.reads(dynamic, job_of_its_own())));
  });
}

/// As `read_shared_job`, while another consumer of the job has taken one element and takes no more.
double beside_stalled_shared(const service& from) {
  const auto reads = from.reads(dynamic, job_of_its_own());
  auto stalled = dataset::range(scalars).apply(reads).iterate();
  stalled.next().value();
  return rate(scalars, [&] { drain_blocks(dataset::range(scalars).apply(reads)); });
}

/// As `read_shared_job`, while another consumer of the job takes one element per second.
double beside_slow_shared(const service& from) {
  const auto reads = from.reads(dynamic, job_of_its_own());
  std::jthread slow{[&](std::stop_token stop) {
    auto it = dataset::range(scalars).apply(reads).iterate();
    std::mutex mutex;
    std::condition_variable_any ended;
    for (std::unique_lock lock{mutex}; !stop.stop_requested() && it.next().value();)
      ended.wait_for(lock, stop, std::chrono::seconds{1}, [] { return false; });
  }};
  return rate(scalars, [&] { drain_blocks(dataset::range(scalars).apply(reads)); });
}

/// The rate of all consumers of one job together, when one thread reads from them in turn.
/// `consumers`: their number.
double read_in_turn(const service& from, int64_t consumers) {
  const auto reads = from.reads(dynamic, job_of_its_own());
  return rate(scalars, [&] {
    std::vector<std::optional<dataset_iterator>> all;
    for (int64_t i = 0; i < consumers; ++i)
      all.emplace_back(dataset::range(scalars).batch(1000).apply(reads).iterate());
    for (auto open = consumers; open > 0;)
      for (auto& one : all)
        if (one && !one->next_block())
          one.reset(), --open;
  });
}

/// Text files of five short lines each, in a folder that is deleted with the object.
class small_files : sample_folder {
public:
  explicit small_files(int count) {
    for (int i = 0; i < count; ++i)
      std::ofstream{pattern(std::to_string(i))} << "one\ntwo\nthree\nfour\nfive\n";
  }
  std::string pattern(const std::string& number = "*") const {
    return folder() + "/" + number + ".txt";
  }
  /// Reads all files, one after the other; returns the number of lines.
  int64_t read() const {
    int64_t lines = 0;
    for (const auto& x : std::filesystem::directory_iterator{folder()}) {
      std::ifstream in{x.path()};
      for (std::string line; std::getline(in, line);) ++lines;
    }
    return lines;
  }
};

/// The peak memory of a process, in MiB, during `work`.
template <class F>
double peak_mib(int pid, F&& work) {
  const auto folder = "/proc/" + std::to_string(pid);
  std::ofstream{folder + "/clear_refs"} << 5; // resets the peak to the present memory
  work();
  std::ifstream in{folder + "/status"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmHWM:"))
      return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

} // namespace

void add_overload_cases(std::vector<bench_case>& to, services& with) {
  to.push_back({"overload_stalled", "int64/s", "without the stalled consumer",
                [&with] { return beside_stalled(with.one()); },
                [&with] { return read_own_job(with.one()); }});
  to.push_back({"overload_stalled_shared", "int64/s", "without the stalled consumer",
                [&with] { return beside_stalled_shared(with.two()); },
                [&with] { return read_shared_job(with.two()); }});
  to.push_back({"overload_slow_shared", "int64/s", "without the slow consumer",
                [&with] { return beside_slow_shared(with.two()); },
                [&with] { return read_shared_job(with.two()); }});
  to.push_back({"overload_200_consumers", "int64/s", "one consumer alone",
                [&with] { return read_in_turn(with.two(), crowd); },
                [&with] { return read_in_turn(with.two(), 1); }});
  to.push_back({"overload_200_consumers_rss", "MiB", "1 MiB a consumer",
                [&with] {
                  return peak_mib(with.two().worker_pid(),
                                  [&] { (void)read_in_turn(with.two(), crowd); });
                },
                fixed(crowd), 3});
  const auto sample = []() -> const small_files& {
    static const small_files all{file_count};
    return all;
  };
  to.push_back({"overload_10000_files", "lines/s", "reading them, one after the other",
                [&with, sample] {
                  const auto& all = sample();
                  return rate(5 * file_count, [&] {
                    drain_any(dataset::list_files({all.pattern()})
                                .flat_map([](expr name) { return dataset::text_lines(name); })
                                .apply(with.two().reads(dynamic)));
                  });
                },
                [sample] {
                  const auto& all = sample();
                  return rate(5 * file_count, [&] { (void)all.read(); });
                },
                3});
  const auto gibibyte = [&with](int64_t n) {
    drain_blocks(dataset::range(n)
                   .map([](expr x) { return fill({int64_t{1} << 27}, x); })
                   .apply(with.one().reads(off)));
  };
  to.push_back({"overload_1g", "B/s", "framed socket, same size",
                [gibibyte] { return rate(int64_t{3} << 30, [&] { gibibyte(3); }); },
                [] { return raw_stream_rate(size_t{1} << 30, 3); }, 3});
  to.push_back(
    {"overload_1g_rss", "MiB", "three elements",
     [&with, gibibyte] { return peak_mib(with.one().worker_pid(), [&] { gibibyte(5); }); },
     fixed(3 * 1024), 3});
}

} // namespace headrace::detail::bench
