#include "headrace/runtime/log/line_output.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <string>
#include <thread>
#include <unistd.h>
#include <utility>
#include <vector>

namespace headrace::detail {
namespace {

struct pipe_ends {
  pipe_ends() {
    int both[2];
    if (::pipe(both) == 0)
      read = both[0], write = both[1];
  }
  ~pipe_ends() {
    close_reader();
    ::close(write);
  }
  void close_reader() {
    if (read >= 0)
      ::close(std::exchange(read, -1));
  }
  /// Reads all bytes that are in the pipe now. @pre the pipe is not empty
  std::string take() const {
    std::string out(size_t{1} << 20, '\0');
    const auto n = ::read(read, out.data(), out.size());
    out.resize(n < 0 ? 0 : static_cast<size_t>(n));
    return out;
  }
  int read = -1, write = -1;
};

TEST(LineOutput, WritesLines) {
  pipe_ends ends;
  line_output out{ends.write};
  out.write("one");
  out.write("two\n");
  const std::string large(3 * size_t{4096}, 'x');
  out.write(large);
  EXPECT_EQ(ends.take(), "one\ntwo\n" + large + "\n");
}

TEST(LineOutput, WaitsForNobodyAndSaysWhatItLeftOut) {
  pipe_ends ends;
  line_output out{ends.write, duration{0}};
  const std::string line(1000, 'x');
  for (int i = 0; i < 1000; ++i) out.write(line); // a pipe holds 64 KiB
  const auto first = ends.take();
  const auto whole = static_cast<int>(std::count(first.begin(), first.end(), '\n'));
  EXPECT_LT(whole, 100);
  out.write("there is room again");
  EXPECT_EQ(ends.take(), "(" + std::to_string(1000 - whole)
                           + " lines were left out here: nobody read them in time)\nthere is room "
                             "again\n");
}

TEST(LineOutput, BeginsALineOfItsOwnAfterOneThatWasBrokenOff) {
  pipe_ends ends;
  line_output out{ends.write, duration{0}};
  const std::string large(size_t{1} << 20, 'x');
  out.write(large);
  EXPECT_EQ(ends.take().find('\n'), std::string::npos);
  out.write("next");
  EXPECT_EQ(ends.take(), "\n(1 line was left out here: nobody read them in time)\nnext\n");
}

TEST(LineOutput, KeepsLinesOfSeveralThreadsWhole) {
  pipe_ends ends;
  line_output out{ends.write};
  const std::string line(99, 'x');
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 100; ++k) out.write(line);
    });
  threads.clear();
  std::string expected;
  for (int i = 0; i < 400; ++i) expected += line + '\n';
  EXPECT_EQ(ends.take(), expected);
}

TEST(LineOutput, OutlivesItsReader) {
  const auto before = ::signal(SIGPIPE, SIG_IGN);
  pipe_ends ends;
  ends.close_reader();
  line_output out{ends.write};
  out.write("to nobody");
  ::signal(SIGPIPE, before);
}

} // namespace
} // namespace headrace::detail
