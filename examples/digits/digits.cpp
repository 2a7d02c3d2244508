/// Trains a classifier of handwritten digits on records that two worker processes read, parse,
/// scale, shuffle and batch. Each epoch has every record of the training shards once, whichever
/// worker reads it.
///
///   digits HEADRACE DATA [EPOCHS]
///
/// HEADRACE is the command line program, which is started as a dispatcher and two workers; DATA is
/// the folder with the shards. The last shard is held out for the accuracy.

#include "softmax_classifier.hpp"

#include <headrace/headrace.hpp>
#include <headrace/runtime/process/child_process.hpp>

#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

namespace hr = headrace;
// A class of headrace itself, whose header is not installed.
using headrace::detail::child_process;

namespace {

constexpr int64_t batch_size = 32;
volatile std::sig_atomic_t interrupted = 0;

/// A process of the service, and the address on its first line of output.
struct server {
  child_process process;
  std::string address;
};

server start(std::vector<std::string> argv) {
  auto process = child_process::start({.argv = std::move(argv)}).value();
  const auto line = process.read_until("listening on ", std::chrono::seconds{20}).value();
  return {std::move(process), line.substr(line.rfind(' ') + 1)};
}

/// Pairs (64 floats in [0, 1], label), one for every record of these shards.
hr::dataset digits(const std::vector<std::string>& shards) {
  return hr::dataset::from_tensor_slices(hr::constant(shards))
    .interleave([](hr::expr file) { return hr::dataset::tfrecord(file); }, {.cycle_length = 3})
    .map([](hr::expr record) {
      auto example =
        hr::io::parse_example(record, {hr::io::fixed_len_feature("image", {}, hr::dtype::string),
                                       hr::io::fixed_len_feature("label", {}, hr::dtype::int64)});
      auto pixels = hr::reshape(hr::io::decode_raw<uint8_t>(example["image"]), {64});
      return std::tuple{hr::cast<float>(pixels) / 16.0f, example["label"]};
    });
}

/// FNV-1a over the parts of a record that the trainer gets: the image and the label.
uint64_t digest(std::span<const float> image, int64_t label) {
  uint64_t h = 14695981039346656037u;
  const auto mix = [&](const void* data, size_t size) {
    for (size_t i = 0; i < size; ++i)
      h = (h ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  };
  mix(image.data(), image.size_bytes());
  mix(&label, sizeof label);
  return h;
}

/// Calls `use(images, labels)` for each batch and returns the sorted digests of all records.
template <class F>
std::vector<uint64_t> read(const hr::dataset& batches, F&& use) {
  std::vector<uint64_t> digests;
  for (const hr::element& batch : batches) {
    if (interrupted)
      throw hr::error{hr::cancelled("interrupted")};
    const auto images = batch[0].as<float>();
    const auto labels = batch[1].as<int64_t>();
    for (size_t n = 0; n < labels.size(); ++n)
      digests.push_back(digest(images.subspan(n * 64, 64), labels[n]));
    use(images, labels);
  }
  std::sort(digests.begin(), digests.end());
  return digests;
}

/// Shows the progress of the training: on a terminal as one line that is overwritten, otherwise as
/// one line for each epoch.
class progress {
public:
  explicit progress(int epochs) : epochs_(epochs), terminal_(isatty(STDOUT_FILENO)) {}
  void during(int epoch, size_t records, size_t of) {
    if (!terminal_)
      return;
    const auto filled = of == 0 ? 0 : 30 * records / of;
    std::printf("\repoch %2d/%d [%-30s] %zu records", epoch, epochs_,
                std::string(filled, '#').c_str(), records);
    std::fflush(stdout);
  }
  void after(int epoch, size_t records, float loss) {
    if (terminal_)
      std::printf("\repoch %2d/%d [%s] %zu records, loss %.3f%s", epoch, epochs_,
                  std::string(30, '#').c_str(), records, static_cast<double>(loss),
                  epoch == epochs_ ? "\n" : "");
    else
      std::printf("epoch %d/%d: %zu records, loss %.3f\n", epoch, epochs_, records,
                  static_cast<double>(loss));
    std::fflush(stdout);
  }

private:
  int epochs_;
  bool terminal_;
};

int run(const std::string& headrace, const std::string& data, int epochs) {
  std::vector<std::string> shards;
  for (int i = 0; i < 4; ++i)
    shards.push_back(data + "/digits-0000" + std::to_string(i) + "-of-00004.tfrecord");
  const std::string held_out = shards.back();
  shards.pop_back();

  auto dispatcher = start({headrace, "dispatcher", "--port", "0", "--log-level", "warn"});
  auto first =
    start({headrace, "worker", "--dispatcher", dispatcher.address, "--log-level", "warn"});
  auto second =
    start({headrace, "worker", "--dispatcher", dispatcher.address, "--log-level", "warn"});
  if (auto ready = hr::await_service_workers(dispatcher.address, 2, std::chrono::seconds{20});
      !ready)
    throw hr::error{ready};
  std::printf("dispatcher on %s, workers on %s and %s\n", dispatcher.address.c_str(),
              first.address.c_str(), second.address.c_str());

  const auto local = read(digits(shards).batch(batch_size), [](auto, auto) {});
  const auto training = digits(shards)
                          .shuffle(512)
                          .batch(batch_size)
                          .apply(hr::distribute({.processing_mode = hr::sharding_policy::dynamic,
                                                 .service = dispatcher.address,
                                                 .job_name = "digits"}))
                          .prefetch(2);
  softmax_classifier model;
  progress show{epochs};
  std::map<uint64_t, uint64_t> produced;
  int faithful = 0;
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    size_t seen = 0;
    float loss = 0;
    size_t batches = 0;
    // The steps are smaller in later epochs, so that the result hardly depends on the order of the
    // last batches.
    const auto rate = 0.5f / (1 + 0.2f * static_cast<float>(epoch - 1));
    const auto digests = read(training, [&](auto images, auto labels) {
      loss += model.train(images, labels, rate);
      ++batches;
      seen += labels.size();
      show.during(epoch, seen, local.size());
    });
    faithful += digests == local;
    show.after(epoch, seen, loss / static_cast<float>(std::max<size_t>(batches, 1)));
    const auto status = hr::get_service_status(dispatcher.address).value();
    for (const auto& job : status.jobs)
      for (const auto& task : job.tasks) produced[task.worker] += task.elements;
  }

  size_t right = 0, tested = 0;
  read(digits({held_out}).batch(batch_size), [&](auto images, auto labels) {
    for (size_t n = 0; n < labels.size(); ++n, ++tested)
      right += model.classify(images.subspan(n * 64, 64)) == labels[n];
  });
  for (const auto& [worker, batches] : produced)
    std::printf("worker %llu produced %llu elements (batches of up to %lld records)\n",
                static_cast<unsigned long long>(worker), static_cast<unsigned long long>(batches),
                static_cast<long long>(batch_size));
  std::printf("record digests equal to a local read's: %d of %d epochs\n", faithful, epochs);
  std::printf("accuracy: %.3f\n", static_cast<double>(right) / static_cast<double>(tested));
  return faithful == epochs && right * 100 >= tested * 93 ? 0 : 1;
}

} // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: %s HEADRACE DATA [EPOCHS]\n", argv[0]);
    return 2;
  }
  std::signal(SIGINT, [](int) { interrupted = 1; });
  std::signal(SIGTERM, [](int) { interrupted = 1; });
  try {
    return run(argv[1], argv[2], argc > 3 ? std::stoi(argv[3]) : 30);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "\n%s\n", interrupted ? "interrupted" : why.what());
    return interrupted ? 130 : 1;
  }
}
