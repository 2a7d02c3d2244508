#include "tests/cluster/processes.hpp"
#include "tests/support/sanitized.hpp"
#include "tests/support/scratch_directory.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <optional>

namespace headrace::detail::test {
namespace {

constexpr int64_t mib = int64_t{1} << 20;

/// The largest memory of a process since `forget_peak`, in bytes.
int64_t peak(pid_t of) {
  std::ifstream in{"/proc/" + std::to_string(of) + "/status"};
  for (std::string line; std::getline(in, line);)
    if (line.starts_with("VmHWM:"))
      return 1024 * std::stoll(line.substr(6));
  return -1;
}
void forget_peak(pid_t of) { std::ofstream{"/proc/" + std::to_string(of) + "/clear_refs"} << 5; }

struct two_workers {
  two_workers() {
    await_workers(dispatcher.address, 2);
    for (auto* one : processes()) forget_peak(one->pid());
  }
  std::vector<child_process*> processes() {
    return {&dispatcher.process, &first.process, &second.process};
  }
  /// Checks the largest memory of each process since all workers have registered.
  void held_less_than(int64_t bytes) {
    if (sanitized)
      return;
    for (auto* one : processes()) {
      const auto held = peak(one->pid());
      EXPECT_GT(held, 0) << "the process has ended";
      EXPECT_LT(held, bytes);
    }
  }
  distribute reads(sharding_policy mode, std::string job = {}) const {
    return distribute(
      {.processing_mode = mode, .service = dispatcher.address, .job_name = std::move(job)});
  }
  server_process dispatcher = start_dispatcher();
  server_process first = start_worker(dispatcher.address);
  server_process second = start_worker(dispatcher.address);
};

TEST(Overload, TwoHundredConsumersOfOneJobGetEachElementOnceAndWorkersHoldLittle) {
  constexpr int64_t total = 2'000'000;
  constexpr size_t consumers = 200;
  two_workers service;
  const auto reads = service.reads(sharding_policy::dynamic, "crowd");
  std::vector<std::optional<dataset_iterator>> all;
  for (size_t i = 0; i < consumers; ++i)
    all.emplace_back(dataset::range(total).apply(reads).iterate());
  once seen{total};
  for (size_t open = consumers; open > 0;)
    for (auto& one : all)
      if (one) {
        if (auto rows = one->next_block())
          seen.add(*rows);
        else
          one.reset(), --open;
      }
  EXPECT_EQ(seen.count(), static_cast<size_t>(total));
  EXPECT_EQ(seen.wrong() + seen.failed(), 0u);
  service.held_less_than(256 * mib);
}

TEST(Overload, AConsumerThatStallsHoldsNoMoreThanItsCreditAndNobodyElse) {
  constexpr int64_t large = 256; // the number of elements, each of 1 MiB
  two_workers service;
  const auto megabytes = [](int64_t count) {
    return dataset::range(count).map([](expr x) { return fill({mib / 8}, x); });
  };
  auto stalled = megabytes(int64_t{1} << 40).apply(service.reads(sharding_policy::off)).iterate();
  ASSERT_TRUE(stalled.next().value());
  once seen{large};
  for (const element& x : megabytes(large).apply(service.reads(sharding_policy::dynamic)))
    seen.add(x[0].as<int64_t>()[0]);
  EXPECT_EQ(seen.count(), static_cast<size_t>(large));
  EXPECT_EQ(seen.wrong(), 0u);
  // The credit of a stream is 4 MiB. The bound also has room for blocks that are on their way
  // between threads.
  service.held_less_than(128 * mib);
}

TEST(Overload, TenThousandFilesGiveEachLineOnce) {
  constexpr int64_t files = 10'000;
  scratch_directory folder;
  for (int64_t i = 0; i < files; ++i)
    std::ofstream{folder.path() + "/" + std::to_string(i) + ".txt"} << 2 * i << '\n'
                                                                    << 2 * i + 1 << '\n';
  two_workers service;
  once seen{2 * files};
  auto lines = dataset::list_files({folder.path() + "/*.txt"})
                 .flat_map([](expr name) { return dataset::text_lines(name); })
                 .map([](expr line) { return strings::to_number<int64_t>(line); })
                 .apply(service.reads(sharding_policy::dynamic));
  for (auto it = lines.iterate(); auto rows = it.next_block();) seen.add(*rows);
  EXPECT_EQ(seen.count(), static_cast<size_t>(2 * files));
  EXPECT_EQ(seen.wrong() + seen.failed(), 0u);
  service.held_less_than(256 * mib);
}

TEST(Overload, AnElementOfAGibibyteArrivesWholeAndIsNotKept) {
  constexpr int64_t values = (int64_t{1} << 30) / 8;
  two_workers service;
  size_t elements = 0;
  for (const element& x : dataset::range(3)
                            .map([](expr i) { return fill({values}, i); })
                            .apply(service.reads(sharding_policy::dynamic))) {
    const auto all = x[0].as<int64_t>();
    ASSERT_EQ(static_cast<int64_t>(all.size()), values);
    EXPECT_EQ(all.front(), all.back());
    ++elements;
  }
  EXPECT_EQ(elements, 3u);
  // The bound has room for one element that is made while another element is sent.
  service.held_less_than(3 * 1024 * mib);
}

} // namespace
} // namespace headrace::detail::test
