#include "headrace/pipeline/codec/position_codec.hpp"
#include "headrace/pipeline/graph_codec/graph_codec.hpp"
#include "tests/pipeline/random/generator.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/test_seed.hpp"

#include <fcntl.h>
#include <fstream>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

// Random graphs are read up to a random element. An iterator that is restored from the position
// there must give the elements that follow, and so must a second iterator that is restored from a
// later position of the first one.

extern char** environ;

namespace headrace::detail {
namespace {

using namespace test::random;
using texts = std::vector<std::string>;

/// A random graph, in which shuffles may have no seed, and the elements that it gives.
struct run {
  explicit run(uint64_t seed) : make(seed, folder, true) {
    context.find_function = test::find_function;
    context.seed = seed;
    context.repetition = seed % 3;
    auto x = make.make(static_cast<int>(1 + make.below(6)));
    if (make.below(3) == 0)
      x = make.batch(x);
    encoded = encode_graph(x.graph).value();
    // The graph is read until two readings in a row are equal. A reading in which an element fails
    // does not write a cache's folder. If no element fails in a later reading, that reading writes
    // the folder, and the readings after it give the elements in the folder.
    for (texts before; whole = test::read_all(*iterate()), whole != before; before = whole) {
    }
  }

  /// An iterator over a copy of the graph whose caches in memory contain nothing of earlier
  /// iterations, as in a new process.
  std::unique_ptr<iterator> iterate() const {
    return make_iterator(decode_graph(encoded).value(), context).value();
  }

  test::asking sizes(size_t most) {
    return [this, most] { return 1 + make.below(most); };
  }
  size_t some_of(size_t rows) { return make.below(rows + 1); }
  texts slice(size_t first, size_t rows) const {
    return {whole.begin() + static_cast<std::ptrdiff_t>(first),
            whole.begin() + static_cast<std::ptrdiff_t>(std::min(whole.size(), first + rows))};
  }
  buffer record(const iterator& at) const {
    auto out = encode_iteration({.graph = fingerprint(encoded),
                                 .seed = context.seed,
                                 .repetition = context.repetition,
                                 .point = {at.save(), 0}})
                 .value();
    EXPECT_LT(out.size(), size_t{1} << 20);
    return out;
  }

  test::scratch_folder folder;
  generator make;
  iterator_context context;
  buffer encoded;
  texts whole;
};

TEST(RandomPositions, ResumeTwiceInARow) {
  const auto seed = test::test_seed();
  for (uint64_t i = 0; i < 200; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", seed, i));
    run x{seed + i * 1000003};
    const auto most = std::vector<size_t>{1, 3, 17, 1000}[x.make.below(4)];
    auto at = x.iterate();
    size_t read = 0;
    for (int stop = 0; stop < 3; ++stop) {
      const auto rows = stop < 2 ? x.some_of(x.whole.size() - read) : x.whole.size() + 1;
      ASSERT_EQ(test::read_all(*at, x.sizes(most), rows), x.slice(read, rows)) << "part " << stop;
      read += std::min(rows, x.whole.size() - read);
      const auto from = decode_iteration(x.record(*at)).value();
      at = x.iterate();
      ASSERT_EQ(at->restore(*from.point.at), status{}) << "part " << stop;
    }
    ASSERT_FALSE(at->next({.rows = 1}));
  }
}

/// Runs a program and returns the lines of its output, which is written into `file`. Throws if the
/// exit code is not 0.
texts output_of(std::vector<std::string> command, const std::string& file) {
  std::vector<char*> arguments;
  for (auto& part : command) arguments.push_back(part.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 1, file.c_str(), O_CREAT | O_TRUNC | O_WRONLY, 0600);
  pid_t child = 0;
  const int failed =
    posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int how = -1;
  if (failed == 0)
    ::waitpid(child, &how, 0);
  std::ifstream in{file};
  texts out;
  for (std::string line; std::getline(in, line);) out.push_back(line);
  if (how != 0)
    throw std::runtime_error(
      fmt::format("{} ended with {}: {}", command[0], how, out.empty() ? "" : out.back()));
  return out;
}

TEST(RandomPositions, ResumeInNewProcessesTwiceInARow) {
  const auto seed = test::test_seed();
  test::scratch_folder folder;
  for (uint64_t i = 0; i < 25; ++i) {
    SCOPED_TRACE(fmt::format("seed {}, pipeline {}", seed, i));
    run x{seed + 500 * 1000003 + i};
    const auto graph =
      folder.write("graph", {reinterpret_cast<const char*>(x.encoded.data()), x.encoded.size()});
    auto at = x.iterate();
    auto read = x.some_of(x.whole.size());
    test::read_all(*at, x.sizes(20), read);
    const auto first = x.record(*at);
    auto record =
      folder.write("record", {reinterpret_cast<const char*>(first.data()), first.size()});
    for (int stop = 0; stop < 2; ++stop) {
      const auto rows = stop == 0 ? x.some_of(x.whole.size() - read) : x.whole.size() + 1;
      const auto next = folder.path() + "/" + std::to_string(stop);
      ASSERT_EQ(output_of({test::resume_program(), graph, record, std::to_string(rows), next},
                          folder.path() + "/out"),
                x.slice(read, rows));
      read += std::min(rows, x.whole.size() - read);
      record = next;
    }
  }
}

} // namespace
} // namespace headrace::detail
