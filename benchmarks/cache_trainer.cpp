/// One of several trainers of a cross-trainer cache, for the cases `cache_...` of headrace_bench:
/// reads elements that take about 2 ms to compute (slow), or arrays of 64 KiB that take little time
/// (cheap), and prints the number of elements read per second. NUMBER: the number of this trainer,
/// from 0 on; OF: the number of all trainers.
///
///   cache_trainer SERVICE JOB NUMBER OF slow|cheap

#include "benchmarks/drain.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace hr = headrace;

namespace {

hr::dataset elements_of(bool cheap, int64_t count) {
  const auto numbers = hr::dataset::range(count);
  if (cheap)
    return numbers.map([](hr::expr x) { return hr::fill({8'192}, x); });
  return numbers.map([](hr::expr x) {
    return hr::reduce_sum(hr::exp(hr::fill({700'000}, hr::cast<float>(x) * 1e-3f)));
  });
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 6)
    return std::fprintf(stderr, "cache_trainer SERVICE JOB NUMBER OF slow|cheap\n"), 2;
  const bool cheap = std::string_view{argv[5]} == "cheap";
  const int64_t elements = cheap ? 40'000 : 1'000;
  try {
    // The dataset is finite, so a trainer that joined late would miss elements. Therefore none are
    // given until `expected_trainers` trainers have joined.
    const hr::trainer_cache cache{
      .trainer_id = argv[3],
      .terms = {.wait = std::chrono::minutes{1},
                .expected_trainers = static_cast<uint32_t>(std::atoi(argv[4]))}};
    auto it = elements_of(cheap, elements)
                .apply(hr::distribute{
                  {.service = argv[1], .job_name = argv[2], .cross_trainer_cache = cache}})
                .iterate();
    it.next().value();
    const auto took = headrace::detail::bench::seconds_of([&] {
      for (int64_t i = 1; i < elements; ++i) it.next().value();
    });
    std::printf("elements a second %.1f\n", static_cast<double>(elements - 1) / took);
  } catch (const hr::error& x) {
    return std::fprintf(stderr, "cache_trainer: %s\n", x.what()), 1;
  }
}
