/// Compares three ways to give batches of sentences to the replicas of a synchronous training job.
/// Each replica is a process. With coordinated reads, all replicas get in each step batches of one
/// bucket of lengths, which one worker process made.
///
///   coordinated HEADRACE DATA [STEPS] [REPLICAS]
///
/// HEADRACE is the command line program, which is started as a dispatcher and two workers; DATA is
/// the folder with the sentences. They are shuffled, and batched in three ways: padded (as they
/// come), bucketed (with others of like length; each replica gets the next batch) and coordinated.
/// A synchronous step takes as long as its longest batch, so the program compares the lengths of
/// the longest batches of the steps, and prints them as a bar chart.

#include <headrace/headrace.hpp>
#include <headrace/runtime/process/child_process.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace hr = headrace;
// A class of headrace itself, whose header is not installed.
using headrace::detail::child_process;

namespace {

constexpr int64_t batch_size = 16;
const std::vector<int64_t> boundaries{8, 12, 16, 20, 26, 32, 40, 50, 64, 90};
const std::vector<std::string> ways{"padded", "bucketed", "coordinated"};

/// The token ids of each sentence in the files of `folder`, repeated without end.
hr::dataset sentences(const std::string& folder) {
  std::vector<std::string> files;
  for (int i = 0; i < 8; ++i)
    files.push_back(folder + "/sentences-0000" + std::to_string(i) + "-of-00008.tfrecord");
  return hr::dataset::from_tensor_slices(hr::constant(files))
    .interleave([](hr::expr file) { return hr::dataset::tfrecord(file); }, {.cycle_length = 8})
    .shuffle(2'000)
    .repeat()
    .map([](hr::expr record) {
      return hr::io::parse_example(record,
                                   {hr::io::var_len_feature("tokens", hr::dtype::int64)})["tokens"];
    });
}

hr::dataset batches(const std::string& folder, const std::string& way, int64_t replicas) {
  auto all = sentences(folder);
  if (way == "padded")
    return all.padded_batch(batch_size);
  auto buckets = all.bucket_by_sequence_length(
    [](hr::expr tokens) { return hr::gather(hr::shape_of(tokens), hr::constant(int64_t{0})); },
    {.boundaries = boundaries,
     .batch_sizes = std::vector<int64_t>(boundaries.size() + 1, batch_size)});
  if (way == "bucketed")
    return buckets;
  // Arranges the batches so that `replicas` batches of one bucket follow one another. The length of
  // a batch, that of its longest sentence, shows its bucket.
  return buckets.group_by_window(
    [](hr::expr batch) {
      const auto length = hr::gather(hr::shape_of(batch), hr::constant(int64_t{1}));
      auto bucket = hr::constant(int64_t{0});
      for (auto x : boundaries) bucket = bucket + hr::cast<int64_t>(length >= x);
      return bucket;
    },
    [](hr::expr, const hr::dataset& group) { return group; }, replicas);
}

/// Runs one replica: prints, for each of its steps, the length of its batch and the number of
/// tokens that are not padding.
int replica(const std::string& service, const std::string& folder, const std::string& way,
            uint32_t index, uint32_t replicas, int steps) {
  hr::distribute_options options{.service = service, .job_name = way};
  if (way == "coordinated")
    options.coordinated_reads =
      hr::coordinated_reads{.consumer_index = index, .num_consumers = replicas};
  else
    options.max_outstanding_requests = 8; // no replica holds many batches that others need
  auto it = batches(folder, way, replicas).apply(hr::distribute{std::move(options)}).iterate();
  for (int step = 0; step < steps; ++step) {
    const auto batch = it.next().value().value();
    const auto tokens = batch[0].as<int64_t>();
    std::printf(
      "%lld %lld\n", static_cast<long long>(batch[0].dims().dims()[1]),
      static_cast<long long>(std::ranges::count_if(tokens, [](auto x) { return x != 0; })));
  }
  return 0;
}

struct step {
  std::vector<int64_t> lengths; ///< the length of each replica's batch
  int64_t tokens = 0;           ///< the number of tokens in all batches, without padding
  int64_t longest() const { return *std::ranges::max_element(lengths); }
};

child_process start(std::vector<std::string> argv) {
  return child_process::start({.argv = std::move(argv)}).value();
}

std::string address_of(child_process& server) {
  const auto line = server.read_until("listening on ", std::chrono::seconds{20}).value();
  return line.substr(line.rfind(' ') + 1);
}

std::vector<step> read(const std::string& self, const std::string& service,
                       const std::string& folder, const std::string& way, int steps, int replicas) {
  std::vector<child_process> all;
  for (int i = 0; i < replicas; ++i)
    all.push_back(start({self, "replica", service, folder, way, std::to_string(i),
                         std::to_string(replicas), std::to_string(steps)}));
  std::vector<step> out(static_cast<size_t>(steps));
  for (auto& one : all)
    for (auto& x : out) {
      std::istringstream line{one.read_line(std::chrono::minutes{2}).value()};
      int64_t length = 0, tokens = 0;
      line >> length >> tokens;
      x.lengths.push_back(length);
      x.tokens += tokens;
    }
  return out;
}

/// A line with a bar for each of the first steps. `highest`: the length that has the full height.
std::string picture(const std::vector<step>& steps, int64_t highest) {
  static const std::vector<std::string> bars{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  std::string out;
  for (size_t i = 0; i < std::min<size_t>(steps.size(), 80); ++i)
    out += bars[static_cast<size_t>(
      std::min<int64_t>(8, (8 * steps[i].longest() + highest / 2) / highest))];
  return out;
}

int run(const std::string& self, const std::string& headrace, const std::string& folder, int steps,
        int replicas) {
  auto dispatcher = start({headrace, "dispatcher", "--port", "0", "--log-level", "warn"});
  const auto service = address_of(dispatcher);
  std::vector<child_process> workers;
  for (int i = 0; i < 2; ++i)
    workers.push_back(start({headrace, "worker", "--dispatcher", service, "--log-level", "warn"}));
  if (auto ready = hr::await_service_workers(service, 2, std::chrono::seconds{20}); !ready)
    throw hr::error{ready};

  std::map<std::string, std::vector<step>> read_as;
  for (const auto& way : ways) read_as[way] = read(self, service, folder, way, steps, replicas);

  std::printf("lengths of the %d replicas' batches in the first steps, coordinated:\n", replicas);
  for (size_t i = 0; i < std::min<size_t>(10, static_cast<size_t>(steps)); ++i) {
    std::printf("  step %zu:", i);
    for (auto x : read_as["coordinated"][i].lengths)
      std::printf(" %3lld", static_cast<long long>(x));
    std::printf("\n");
  }
  std::map<std::string, int64_t> total;
  std::vector<int64_t> heights;
  for (const auto& [way, all] : read_as)
    for (const auto& x : all) {
      total[way] += x.longest();
      heights.push_back(x.longest());
    }
  // The full height is not the length of the longest batch, because a few sentences are much longer
  // than all others.
  std::ranges::sort(heights);
  const auto highest = heights[heights.size() * 29 / 30];
  std::printf("\nlongest batch of each of the first steps (full height: %lld tokens or more):\n",
              static_cast<long long>(highest));
  for (const auto& way : ways)
    std::printf("  %-12s|%s|\n", way.c_str(), picture(read_as[way], highest).c_str());
  std::printf("\n%-12s  longest batch a step   padding   steps in the time of one padded\n", "");
  for (const auto& way : ways) {
    int64_t tokens = 0;
    for (const auto& x : read_as[way]) tokens += x.tokens;
    const auto sum = static_cast<double>(total[way]);
    std::printf("%-12s  %20.1f   %5.0f %%   %31.2f\n", way.c_str(), sum / steps,
                100 * (1 - static_cast<double>(tokens) / (sum * batch_size * replicas)),
                static_cast<double>(total["padded"]) / sum);
  }
  return total["coordinated"] < total["bucketed"] && total["bucketed"] < total["padded"] ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> args(argv, argv + argc);
  try {
    if (argc == 8 && args[1] == "replica")
      return replica(args[2], args[3], args[4], static_cast<uint32_t>(std::stoul(args[5])),
                     static_cast<uint32_t>(std::stoul(args[6])), std::stoi(args[7]));
    if (argc < 3 || argc > 5) {
      std::fprintf(stderr, "usage: coordinated HEADRACE DATA [STEPS] [REPLICAS]\n");
      return 2;
    }
    const auto number = [&](int i, int otherwise) {
      if (argc <= i)
        return otherwise;
      const auto out = std::atoi(argv[i]);
      if (out < 1)
        throw hr::error{hr::invalid_argument("'" + args[static_cast<size_t>(i)]
                                             + "' is no number of steps or replicas, 1 or more")};
      return out;
    };
    return run(args[0], args[1], args[2], number(3, 200), number(4, 4));
  } catch (const hr::error& x) {
    std::fprintf(stderr, "coordinated: %s\n", x.what());
    return 1;
  }
}
