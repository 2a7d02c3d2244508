// raw_link BLOCK_BYTES BLOCKS: prints the rate of a bare framed socket, in GB/s.

#include "benchmarks/raw_stream.hpp"

#include <cstdio>
#include <cstdlib>
#include <exception>

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: %s BLOCK_BYTES BLOCKS\n", argv[0]);
    return 2;
  }
  try {
    auto rate = headrace::detail::bench::raw_stream_rate(std::strtoull(argv[1], nullptr, 10),
                                                         std::strtoull(argv[2], nullptr, 10));
    std::printf("%.3f GB/s\n", rate / 1e9);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
