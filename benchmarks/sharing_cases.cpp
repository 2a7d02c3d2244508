#include "benchmarks/cases.hpp"
#include "benchmarks/drain.hpp"

#include <headrace/runtime/process/child_process.hpp>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

namespace headrace::detail::bench {

namespace {

constexpr size_t replicas = 2;
constexpr int64_t batch_size = 16;
// With fewer steps, the result would depend too much on which lengths of batches occur in a run.
constexpr int64_t steps = 600;
/// The simulated time of a training step, for each token of the longest sequence in its batches.
constexpr auto token_time = std::chrono::microseconds{40};
const std::vector<int64_t> boundaries{8, 12, 16, 20, 26, 32, 40, 50, 64, 90};

std::string fresh_job(const char* of) {
  static int runs = 0;
  return std::string{of} + " " + std::to_string(++runs);
}

enum class way { padded, bucketed, coordinated };

/// A dataset without end whose elements are the token ids of real sentences.
dataset sentences() {
  std::vector<std::string> files;
  for (int i = 0; i < 8; ++i)
    files.push_back(std::string{HEADRACE_DATA_DIR} + "/sentences/sentences-0000" + std::to_string(i)
                    + "-of-00008.tfrecord");
  return dataset::from_tensor_slices(constant(files))
    .interleave([](expr file) { return dataset::tfrecord(file); }, {.cycle_length = 8})
    .shuffle(2'000)
    .repeat()
    .map([](expr record) {
      return io::parse_example(record, {io::var_len_feature("tokens", dtype::int64)})["tokens"];
    });
}

dataset batches(way how) {
  auto out = sentences();
  if (how == way::padded)
    return out.padded_batch(batch_size);
  out = out.bucket_by_sequence_length(
    [](expr tokens) { return gather(shape_of(tokens), constant(int64_t{0})); },
    {.boundaries = boundaries,
     .batch_sizes = std::vector<int64_t>(boundaries.size() + 1, batch_size)});
  if (how == way::bucketed)
    return out;
  return out.group_by_window(
    [](expr batch) {
      const auto length = gather(shape_of(batch), constant(int64_t{1}));
      auto bucket = constant(int64_t{0});
      for (auto x : boundaries) bucket = bucket + cast<int64_t>(length >= x);
      return bucket;
    },
    [](expr, const dataset& group) { return group; }, static_cast<int64_t>(replicas));
}

dataset_iterator replica(const service& from, const dataset& what, const std::string& job, way how,
                         uint32_t index) {
  distribute_options options{.service = from.target(), .job_name = job};
  if (how == way::coordinated)
    options.coordinated_reads =
      coordinated_reads{.consumer_index = index, .num_consumers = replicas};
  else
    // Without this bound, one consumer may take the elements that the other needs.
    options.max_outstanding_requests = 8;
  return what.apply(distribute{std::move(options)}).iterate();
}

/// Calls `read(index, iterator)` in a thread for each replica. Returns the seconds that the call
/// for replica 0 took.
template <class F>
double seconds_of_replicas(const service& from, const dataset& what, way how, F&& read) {
  const auto job = fresh_job("rounds");
  std::vector<dataset_iterator> all;
  for (uint32_t i = 0; i < replicas; ++i) all.push_back(replica(from, what, job, how, i));
  // The time until all replicas have begun is not measured.
  std::barrier<> begun{replicas};
  std::atomic<double> out = 0;
  std::vector<std::jthread> threads;
  for (uint32_t i = 0; i < replicas; ++i)
    threads.emplace_back([&, i] {
      all[i].next().value();
      begun.arrive_and_wait();
      const auto took = seconds_of([&] { read(i, all[i]); });
      if (i == 0)
        out = took;
    });
  threads.clear();
  return out;
}

/// The rounds per second of scalars, when each replica takes its elements as fast as it can.
double rounds(const service& from) {
  constexpr int64_t count = 200'000;
  return static_cast<double>(count)
         / seconds_of_replicas(from, dataset::counter(), way::coordinated, [](auto, auto& it) {
             for (int64_t i = 0; i < count; ++i) it.next().value();
           });
}

/// The rounds per second of scalars, when no replica begins a round before all replicas have
/// finished the previous one.
double rounds_in_step(const service& from) {
  constexpr int64_t count = 20'000;
  std::barrier<> step{replicas};
  return static_cast<double>(count)
         / seconds_of_replicas(from, dataset::counter(), way::coordinated, [&](auto, auto& it) {
             for (int64_t i = 0; i < count; ++i) {
               it.next().value();
               step.arrive_and_wait();
             }
           });
}

/// The simulated training steps per second. In a step each replica takes a batch; the step lasts
/// `token_time` for each token of the longest sequence in these batches.
double steps_a_second(const service& from, way how) {
  std::vector<int64_t> lengths(replicas);
  const auto work = [&]() noexcept {
    std::this_thread::sleep_for(token_time * *std::ranges::max_element(lengths));
  };
  std::barrier<decltype(work)> step{replicas, work};
  return static_cast<double>(steps)
         / seconds_of_replicas(from, batches(how), how, [&](uint32_t index, auto& it) {
             for (int64_t i = 0; i < steps; ++i) {
               lengths[index] = (*it.next().value())[0].dims().dims()[1];
               step.arrive_and_wait();
             }
           });
}

/// The elements per second of the slowest of several trainer processes that share one pipeline. An
/// element takes about 2 ms to compute, or, if `cheap`, only the time to fill 64 KiB of memory.
double rate_of_trainers(const service& from, size_t count, bool cheap = false) {
  const auto job = fresh_job("cache");
  std::vector<child_process> all;
  for (size_t i = 0; i < count; ++i)
    all.push_back(
      child_process::start({.argv = {HEADRACE_CACHE_TRAINER, from.target(), job, std::to_string(i),
                                     std::to_string(count), cheap ? "cheap" : "slow"}})
        .value());
  double slowest = 0;
  for (auto& one : all) {
    const auto line = one.read_until("elements a second ", std::chrono::minutes{2}).value();
    const auto x = std::stod(line.substr(line.rfind(' ') + 1));
    slowest = slowest == 0 ? x : std::min(slowest, x);
  }
  return slowest;
}

/// The bytes per second of several trainer processes together, with cheap elements of 64 KiB: the
/// rate of the slowest process, times the number of processes.
double bytes_of_trainers(const service& from, size_t count) {
  return rate_of_trainers(from, count, true) * static_cast<double>(count) * (64 << 10);
}

/// The rate at which one thread copies memory, in bytes per second.
double memory_bandwidth() {
  constexpr size_t size = size_t{64} << 20;
  constexpr int times = 20;
  std::vector<std::byte> from(size, std::byte{1}), to(size);
  const auto took = seconds_of([&] {
    for (int i = 0; i < times; ++i) {
      from[static_cast<size_t>(i)] = std::byte{2}; // otherwise the compiler could remove the copies
      std::memcpy(to.data(), from.data(), size);
    }
  });
  return static_cast<double>(size) * times / took;
}

/// The path of a folder that does not exist yet. The destructor removes the folder.
class new_folder {
public:
  new_folder()
    : path_((std::filesystem::temp_directory_path() / "headrace_bench_XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr)
      throw error{resource_exhausted("no temporary folder")};
  }
  new_folder(const new_folder&) = delete;
  ~new_folder() { std::filesystem::remove_all(path_); }
  std::string path() const { return path_ + "/saved"; }

private:
  std::string path_;
};

/// The elements per second when the service `by` saves a dataset; null: this thread saves it.
double saved_a_second(const service* by, const dataset& what) {
  const new_folder folder;
  const auto took = seconds_of([&] {
    if (by != nullptr)
      distribute_save(what, folder.path(), {.service = by->target(), .wait = true});
    else
      what.save(folder.path(), {saved_compression::snappy});
  });
  return static_cast<double>(what.cardinality()) / took;
}

} // namespace

void add_sharing_cases(std::vector<bench_case>& to, services& with) {
  to.push_back(
    {"rounds_alone", "rounds/s", "10,000", [&with] { return rounds(with.two()); }, fixed(10'000)});
  to.push_back({"rounds_in_step", "rounds/s", "10,000",
                [&with] { return rounds_in_step(with.two()); }, fixed(10'000)});
  for (const auto& [name, than] : {std::pair{"steps_than_bucketed", way::bucketed},
                                   std::pair{"steps_than_padded", way::padded}})
    to.push_back({name, "steps/s", than == way::bucketed ? "bucketed alone" : "padded alone",
                  [&with] { return steps_a_second(with.two(), way::coordinated); },
                  [&with, than = than] { return steps_a_second(with.two(), than); }});
  for (const size_t count : {2u, 4u, 8u})
    to.push_back({"cache_" + std::to_string(count), "el/s each", "one trainer",
                  [&with, count] { return rate_of_trainers(with.one(), count); },
                  [&with] { return rate_of_trainers(with.one(), 1); }, 3});
  for (const size_t count : {1u, 4u})
    to.push_back({"cache_sum_" + std::to_string(count), "B/s", "copying in memory",
                  [&with, count] { return bytes_of_trainers(with.one(), count); }, memory_bandwidth,
                  3});
  const auto scalars = dataset::range(20'000'000);
  const auto slow = dataset::range(4'000).sleep(std::chrono::milliseconds{1});
  for (const auto& [name, what] :
       {std::pair{"save_scalars", scalars}, std::pair{"save_slow", slow}})
    to.push_back({name, "el/s", "one thread, save",
                  [&with, what = what] { return saved_a_second(&with.two(), what); },
                  [what = what] { return saved_a_second(nullptr, what); }, 3});
}

} // namespace headrace::detail::bench
