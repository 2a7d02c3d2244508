/// A dispatcher and two workers in this process, and a dataset that they compute.

#include <headrace/headrace.hpp>

#include <cstdio>

namespace hr = headrace;

int main() {
  hr::local_cluster cluster{{.workers = 2}};
  auto squares = hr::dataset::range(100)
                   .map([](hr::expr x) { return x * x; }) // traced once, runs on the workers
                   .batch(10)
                   .apply(hr::distribute({.processing_mode = hr::sharding_policy::dynamic,
                                          .service = cluster.target()}))
                   .prefetch(2); // after distribute: runs here
  int64_t sum = 0;
  for (const hr::element& batch : squares)
    for (auto x : batch[0].as<int64_t>()) sum += x;
  std::printf("sum of squares: %lld\n", static_cast<long long>(sum));
  return sum == 328350 ? 0 : 1;
}
