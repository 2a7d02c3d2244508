/// Measures the service between separate processes over loopback, each case beside a limit of the
/// same machine taken in turn in the same run: absolute figures drift, ratios stay.
///
///   headrace_bench [--json FILE] [--runs N] [--headrace PATH] [CASE...]

#include "benchmarks/raw_stream.hpp"
#include "benchmarks/table.hpp"

#include <headrace/headrace.hpp>
#include <headrace/runtime/process/child_process.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <set>
#include <string>
#include <thread>
#include <vector>

namespace headrace::bench {

namespace {

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

/// A dispatcher and workers as processes of their own.
class service {
public:
  service(const std::string& headrace, size_t workers) {
    dispatcher_.push_back(
      start({headrace, "dispatcher", "--port", "0", "--no-restart", "--log-level", "warn"}));
    for (size_t i = 0; i < workers; ++i)
      workers_.push_back(start(
        {headrace, "worker", "--dispatcher", target_, "--no-restart", "--log-level", "warn"}));
    if (auto how = await_service_workers(target_, workers, std::chrono::seconds{30}); !how)
      throw error{how};
  }
  const std::string& target() const { return target_; }
  int dispatcher_pid() const { return dispatcher_.front().pid(); }
  int worker_pid() const { return workers_.front().pid(); }
  distribute reads(sharding_policy mode, std::string job = {}) const {
    return distribute{{.processing_mode = mode, .service = target_, .job_name = std::move(job)}};
  }

private:
  child_process start(std::vector<std::string> argv) {
    auto child = child_process::start({.argv = std::move(argv)}).value();
    auto line = child.read_until("listening on ", std::chrono::seconds{20}).value();
    if (target_.empty())
      target_ = line.substr(line.rfind(' ') + 1);
    return child;
  }
  std::string target_;
  std::vector<child_process> dispatcher_;
  std::vector<child_process> workers_;
};

/// Reads all by block and touches every value; returns rows.
size_t drain_blocks(const dataset& from) {
  auto it = from.iterate();
  size_t rows = 0;
  volatile int64_t kept = 0;
  while (auto b = it.next_block()) {
    if (!b->errors.empty())
      throw error{b->errors.front().why};
    rows += b->rows;
    const auto& bytes = b->columns[0].value_buffer();
    kept = kept + sum_of(bytes.data(), bytes.size());
  }
  return rows;
}

size_t drain_elements(const dataset& from) {
  size_t rows = 0;
  int64_t sum = 0;
  for (const element& x : from) {
    sum += x[0].as<int64_t>()[0];
    ++rows;
  }
  [[maybe_unused]] volatile int64_t kept = sum;
  return rows;
}

double rate(size_t elements, const std::function<void()>& work) {
  return static_cast<double>(elements) / seconds_of(work);
}

/// A pipeline of twenty float operations on vectors of 256.
dataset float_chain(int64_t vectors) {
  std::vector<float> base(256);
  for (size_t i = 0; i < base.size(); ++i) base[i] = static_cast<float>(i) / 256;
  const auto constant_base = constant(base);
  return dataset::range(vectors)
    .map([&](expr i) {
      auto x = constant_base + cast<float>(i) * 1e-6f;
      for (int k = 0; k < 10; ++k) x = x * 0.999f + 0.001f;
      return x;
    })
    .batch(64);
}

/// What float_chain costs as plain loops over tiles: the limit of one core.
double plain_float_chain(size_t vectors) {
  std::vector<float> base(256), tile(1024);
  for (size_t i = 0; i < base.size(); ++i) base[i] = static_cast<float>(i) / 256;
  std::vector<float> out(256 * 64);
  float kept = 0;
  const auto took = seconds_of([&] {
    for (size_t i = 0; i < vectors; i += 64) {
      for (size_t j = 0; j < out.size(); j += tile.size()) {
        for (size_t r = 0; r < tile.size(); r += 256) {
          const auto c = static_cast<float>(i + (j + r) / 256) * 1e-6f;
          for (size_t k = 0; k < 256; ++k) tile[r + k] = base[k] + c;
        }
        for (int k = 0; k < 10; ++k) {
          for (auto& x : tile) x *= 0.999f;
          for (auto& x : tile) x += 0.001f;
        }
        std::copy(tile.begin(), tile.end(), out.begin() + static_cast<std::ptrdiff_t>(j));
      }
      kept += out[5];
    }
  });
  [[maybe_unused]] volatile float k = kept;
  return static_cast<double>(vectors) / took;
}

/// Lines of 37 bytes in a file of its own.
std::string text_file(size_t lines) {
  const auto path = "/tmp/headrace_bench_" + std::to_string(std::rand()) + ".txt";
  std::ofstream out{path};
  for (size_t i = 0; i < lines; ++i) {
    auto line = "line " + std::to_string(i) + " of a text that is read";
    line.resize(36, '.');
    out << line << '\n';
  }
  return path;
}

dataset upper_lines(const std::string& path) {
  return dataset::text_lines(std::vector<std::string>{path})
    .map([](expr line) { return strings::upper(line); })
    .batch(256);
}

size_t drain_any(const dataset& from) {
  auto it = from.iterate();
  size_t rows = 0;
  while (auto b = it.next_block()) rows += b->rows;
  return rows;
}

double resident_mib(int pid) {
  std::ifstream in{"/proc/" + std::to_string(pid) + "/status"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmRSS:"))
      return std::strtod(line.c_str() + 6, nullptr) / 1024;
  return 0;
}

struct options {
  std::string headrace;
  std::string json;
  size_t runs = 5;
  std::set<std::string> only;
};

void run(const options& about) {
  std::FILE* json = about.json.empty() ? nullptr : std::fopen(about.json.c_str(), "w");
  if (!about.json.empty() && json == nullptr)
    throw error{invalid_argument("cannot write " + about.json)};
  const auto wanted = [&](const char* name) {
    return about.only.empty() || about.only.contains(name);
  };
  const auto show = [&](const row& x) {
    print(x);
    if (json)
      print_json(json, x);
  };
  print_header();
  service one{about.headrace, 1}, two{about.headrace, 2};
  const auto off = sharding_policy::off, dynamic = sharding_policy::dynamic;

  constexpr int64_t scalars = 40'000'000;
  const auto raw_scalars = [] { return raw_stream_rate(256 * 1024, 1200) / 8; };
  const auto off_block = [&] {
    return rate(scalars, [&] { drain_blocks(dataset::range(scalars).apply(one.reads(off))); });
  };
  if (wanted("scalars_off_block"))
    show(measure("scalars_off_block", "int64/s", "framed socket, blocks of 256 KiB", about.runs,
                 off_block, raw_scalars));
  if (wanted("scalars_off_element"))
    show(measure(
      "scalars_off_element", "int64/s", "the same by block", about.runs,
      [&] {
        return rate(scalars / 4,
                    [&] { drain_elements(dataset::range(scalars / 4).apply(one.reads(off))); });
      },
      off_block));
  // OFF on two workers gives two copies: the same elements delivered.
  if (wanted("scalars_dynamic"))
    show(measure(
      "scalars_dynamic", "int64/s", "OFF on two workers", about.runs,
      [&] {
        return rate(scalars,
                    [&] { drain_blocks(dataset::range(scalars).apply(two.reads(dynamic))); });
      },
      [&] {
        return rate(scalars,
                    [&] { drain_blocks(dataset::range(scalars / 2).apply(two.reads(off))); });
      }));
  if (wanted("batched_dynamic"))
    show(measure(
      "batched_dynamic", "int64/s", "OFF on two workers", about.runs,
      [&] {
        return rate(scalars, [&] {
          drain_blocks(dataset::range(scalars).batch(1000).apply(two.reads(dynamic)));
        });
      },
      [&] {
        return rate(scalars, [&] {
          drain_blocks(dataset::range(scalars / 2).batch(1000).apply(two.reads(off)));
        });
      }));
  const auto large = [&](const char* name, int64_t bytes, int64_t count) {
    if (!wanted(name))
      return;
    show(measure(
      name, "B/s", "framed socket, same size", about.runs,
      [&] {
        return static_cast<double>(bytes) * rate(static_cast<size_t>(count), [&] {
                 drain_blocks(
                   dataset::range(count * (bytes / 8)).batch(bytes / 8).apply(one.reads(off)));
               });
      },
      [&] { return raw_stream_rate(static_cast<size_t>(bytes), static_cast<size_t>(count)); }));
  };
  large("large_64k", 64 << 10, 8000);
  large("large_1m", 1 << 20, 800);
  large("large_16m", 16 << 20, 60);

  constexpr int64_t vectors = 400'000;
  const auto chain_limit = [] { return plain_float_chain(vectors); };
  if (wanted("float_chain_local"))
    show(measure(
      "float_chain_local", "vectors/s", "plain loops over tiles", about.runs,
      [] { return rate(vectors, [] { drain_any(float_chain(vectors)); }); }, chain_limit));
  if (wanted("float_chain_service"))
    show(measure(
      "float_chain_service", "vectors/s", "plain loops over tiles", about.runs,
      [&] { return rate(vectors, [&] { drain_any(float_chain(vectors).apply(one.reads(off))); }); },
      chain_limit));
  if (wanted("text_local") || wanted("text_service")) {
    constexpr size_t lines = 1'200'000;
    const auto path = text_file(lines);
    const auto reading = [&] {
      return rate(lines, [&] {
        std::ifstream in{path, std::ios::binary};
        std::vector<char> bytes(1 << 20);
        volatile size_t ends = 0;
        while (in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || in.gcount() > 0)
          ends =
            ends
            + static_cast<size_t>(std::count(bytes.begin(), bytes.begin() + in.gcount(), '\n'));
      });
    };
    if (wanted("text_local"))
      show(measure(
        "text_local", "lines/s", "read the file and count its lines", about.runs,
        [&] { return rate(lines, [&] { drain_any(upper_lines(path)); }); }, reading));
    if (wanted("text_service"))
      show(measure(
        "text_service", "lines/s", "read the file and count its lines", about.runs,
        [&] { return rate(lines, [&] { drain_any(upper_lines(path).apply(one.reads(off))); }); },
        reading));
    std::remove(path.c_str());
  }

  const auto milliseconds = [](double of) { return [of] { return of; }; };
  if (wanted("first_element"))
    show(measure(
      "first_element", "ms", "target", about.runs * 3,
      [&] {
        double took = 0;
        auto ds = dataset::range(10).apply(one.reads(off));
        took = seconds_of([&] { (void)ds.iterate().next(); });
        return took * 1e3;
      },
      milliseconds(5)));
  if (wanted("end_seen"))
    show(measure(
      "end_seen", "ms", "target", about.runs * 3,
      [&] {
        auto it = dataset::range(10).apply(two.reads(dynamic)).iterate();
        for (int i = 0; i < 10; ++i) it.next().value();
        return seconds_of([&] { (void)it.next(); }) * 1e3;
      },
      milliseconds(5)));
  if (wanted("jobs_100"))
    show(measure(
      "jobs_100", "s", "target", 3,
      [&] {
        return seconds_of([&] {
          for (int i = 0; i < 100; ++i) drain_blocks(dataset::range(10).apply(one.reads(off)));
        });
      },
      milliseconds(1)));
  if (wanted("fan_in_8")) {
    const auto consumers = [&](size_t count) {
      const auto each = scalars / static_cast<int64_t>(count);
      return rate(scalars, [&] {
        std::vector<std::jthread> readers;
        for (size_t i = 0; i < count; ++i)
          readers.emplace_back(
            [&] { drain_blocks(dataset::range(each).apply(two.reads(dynamic))); });
      });
    };
    show(measure(
      "fan_in_8", "int64/s", "one consumer alone", about.runs, [&] { return consumers(8); },
      [&] { return consumers(1); }));
  }
  if (wanted("shares_2"))
    show(measure(
      "shares_2", "ratio", "equal shares", about.runs,
      [&] {
        // Two consumers of one job, driven in turn by one thread.
        const auto job = "shares " + std::to_string(std::rand());
        auto a = dataset::range(20'000).apply(two.reads(dynamic, job)).iterate();
        auto b = dataset::range(20'000).apply(two.reads(dynamic, job)).iterate();
        size_t first = 0, second = 0;
        for (bool more_a = true, more_b = true; more_a || more_b;) {
          if (more_a)
            first += more_a = a.next().value().has_value();
          if (more_b)
            second += more_b = b.next().value().has_value();
        }
        return static_cast<double>(std::min(first, second))
               / static_cast<double>(std::max(first, second));
      },
      milliseconds(1)));
  if (wanted("ping_beside_data")) {
    show(measure(
      "ping_beside_data", "ms (p99)", "target", 1,
      [&] {
        std::stop_source stop;
        std::jthread load{[&] {
          auto it = dataset::range(int64_t{1} << 50).batch(1 << 17).apply(one.reads(off)).iterate();
          while (!stop.stop_requested()) (void)it.next_block();
        }};
        std::vector<double> pings;
        for (int i = 0; i < 500; ++i)
          pings.push_back(seconds_of([&] { (void)get_service_status(one.target()); }) * 1e3);
        stop.request_stop();
        std::sort(pings.begin(), pings.end());
        return pings[pings.size() * 99 / 100];
      },
      milliseconds(5)));
  }
  if (wanted("idle_rss")) {
    service idle{about.headrace, 1};
    show(measure(
      "idle_rss", "MiB", "target", 1,
      [&] {
        return std::max(resident_mib(idle.dispatcher_pid()), resident_mib(idle.worker_pid()));
      },
      milliseconds(30)));
  }
  if (json)
    std::fclose(json);
}

} // namespace

} // namespace headrace::bench

int main(int argc, char** argv) {
  headrace::bench::options about;
  about.headrace = HEADRACE_COMMAND;
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string arg = argv[i];
      if (arg.starts_with("--") && i + 1 == argc) {
        std::fprintf(stderr, "%s needs a value\n", arg.c_str());
        return 2;
      }
      if (arg == "--json")
        about.json = argv[++i];
      else if (arg == "--runs")
        about.runs = std::stoul(argv[++i]);
      else if (arg == "--headrace")
        about.headrace = argv[++i];
      else if (arg.starts_with("--")) {
        std::fprintf(stderr,
                     "there is no option %s; there are --json FILE, --runs N, --headrace PATH\n",
                     arg.c_str());
        return 2;
      } else
        about.only.insert(arg);
    }
    headrace::bench::run(about);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
}
