#include "benchmarks/cases.hpp"
#include "benchmarks/drain.hpp"
#include "benchmarks/float_chain.hpp"
#include "benchmarks/temporary_file.hpp"

#include <algorithm>
#include <fstream>

namespace headrace::detail::bench {

namespace {

constexpr int64_t vectors = 400'000;
constexpr int64_t lines = 1'200'000;
constexpr auto off = sharding_policy::off;

/// Twenty float operations on each of `vectors` vectors of 256 floats.
dataset float_chain() {
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

/// A line of 36 bytes, without the line end that the file adds.
std::string line_of(int64_t number) {
  auto line = "line " + std::to_string(number) + " of a text that is read";
  line.resize(36, '.');
  return line;
}

double read_and_count(const std::string& path) {
  return rate(lines, [&] {
    std::ifstream in{path, std::ios::binary};
    std::vector<char> bytes(1 << 20);
    volatile std::ptrdiff_t ends = 0;
    while (in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || in.gcount() > 0)
      ends = ends + std::count(bytes.begin(), bytes.begin() + in.gcount(), '\n');
  });
}

dataset upper_lines(const std::string& path) {
  return dataset::text_lines(std::vector<std::string>{path})
    .map([](expr line) { return strings::upper(line); })
    .batch(256);
}

} // namespace

void add_compute_cases(std::vector<bench_case>& to, services& with) {
  const auto limit = [] { return plain_float_chain(vectors); };
  to.push_back({"float_chain_local", "vectors/s", "plain loops, same instructions",
                [] { return rate(vectors, [] { drain_any(float_chain()); }); }, limit});
  to.push_back({"float_chain_service", "vectors/s", "plain loops, same instructions",
                [&with] {
                  const auto ds = float_chain().apply(with.one().reads(off));
                  return rate(vectors, [&] { drain_any(ds); });
                },
                limit});
  // The first case that reads the file writes it. The file is deleted when the last of these cases
  // is destroyed.
  auto file = std::make_shared<std::unique_ptr<temporary_file>>();
  const auto path = [file] {
    if (!*file)
      *file = std::make_unique<temporary_file>(lines, line_of);
    return (*file)->path();
  };
  const auto reading = [path] { return read_and_count(path()); };
  to.push_back({"text_local", "lines/s", "reading it and counting lines",
                [path] {
                  const auto ds = upper_lines(path());
                  return rate(lines, [&] { drain_any(ds); });
                },
                reading});
  to.push_back({"text_service", "lines/s", "reading it and counting lines",
                [path, &with] {
                  const auto ds = upper_lines(path()).apply(with.one().reads(off));
                  return rate(lines, [&] { drain_any(ds); });
                },
                reading});
}

} // namespace headrace::detail::bench
