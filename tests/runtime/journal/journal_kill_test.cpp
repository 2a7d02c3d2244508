#include "tests/runtime/journal/journal_fixture.hpp"
#include "tests/runtime/process/child_body.hpp"
#include "tests/support/test_seed.hpp"

#include <charconv>
#include <csignal>
#include <fmt/format.h>
#include <random>
#include <thread>
#include <unistd.h>

namespace headrace::detail::test {
namespace {

constexpr uint64_t streams = 3;

/// The text of the n-th record of a stream; a state has the text of the last record that it
/// replaces.
std::string content(uint64_t stream, uint64_t n) { return fmt::format("{} {}", stream, n); }

uint64_t number_in(const std::string& text) {
  uint64_t out = 0;
  std::from_chars(text.data() + text.find(' ') + 1, text.data() + text.size(), out);
  return out;
}

/// The number of records that were appended to a stream. Checks the content of the stream.
uint64_t count_in(uint64_t stream, const journal::kept& found) {
  uint64_t n = 0;
  if (found.state) {
    n = number_in(text_of(*found.state));
    EXPECT_EQ(text_of(*found.state), content(stream, n));
  }
  for (const auto& x : found.records) EXPECT_EQ(text_of(x), content(stream, ++n));
  return n;
}

/// A process that appends to each stream from a separate thread, and prints each record that is
/// stored. The threads wait for the results only after every second, third or fourth append.
const child_body writer{
  "journal_writer", [](const std::vector<std::string>& args) -> int {
    auto options = quick(args.at(0));
    options.checkpoint_pages = 20;
    auto log = open(options);
    say("open");
    std::vector<std::thread> threads;
    for (uint64_t stream = 0; stream < streams; ++stream)
      threads.emplace_back([&, stream] {
        auto n = count_in(stream, log->recover(stream).value());
        outcomes said;
        for (size_t waited = 0;; ++n) {
          if (n % 50 == 49)
            log->settle(stream, bytes_of(content(stream, n)));
          log->append(stream, bytes_of(content(stream, n + 1)), [&, n](const status& outcome) {
            const auto line = content(stream, n + 1) + "\n";
            if (outcome.ok() && ::write(STDOUT_FILENO, line.data(), line.size()) < 0)
              ::_exit(1);
            said.expect()(outcome);
          });
          ++waited;
          if (n % (2 + stream) == 0 && !said.wait_for(waited))
            ::_exit(1);
        }
      });
    wait_for_ever();
  }};

TEST(JournalKill, LosesNothingThatWasReportedHoweverOftenItsProcessIsKilled) {
  const scratch_directory folder;
  std::mt19937_64 random{test_seed()};
  std::vector<uint64_t> reported(streams, 0);
  for (int life = 0; life < 100; ++life) {
    SCOPED_TRACE(fmt::format("life {}", life));
    auto child = writer.start({folder.journal()});
    const auto note = [&](const std::string& line) {
      reported.at(std::stoull(line)) = number_in(line);
    };
    ASSERT_TRUE(child.read_until("open", patience).ok());
    for (auto lines = random() % 60; lines != 0; --lines) {
      auto line = child.read_line(patience);
      ASSERT_TRUE(line.ok()) << line.status().message();
      note(*line);
    }
    child.kill(SIGKILL);
    while (auto line = child.read_line(patience)) note(*line);
    ASSERT_TRUE(child.wait(patience).ok());
    if (life % 10 != 9) // only in every tenth life the test checks the journal
      continue;
    auto log = open_sqlite_journal(quick(folder.journal()));
    ASSERT_TRUE(log.ok()) << log.status().message();
    for (uint64_t stream = 0; stream < streams; ++stream)
      EXPECT_GE(count_in(stream, (*log)->recover(stream).value()), reported[stream]);
    ASSERT_FALSE(HasFailure());
  }
  EXPECT_GT(reported[0], 100u);
}

const child_body holder{"journal_holder", [](const std::vector<std::string>& args) -> int {
                          auto log = open(quick(args.at(0)));
                          say("open");
                          wait_for_ever();
                        }};

TEST(JournalKill, FreesTheDirectoryWhichNamesItsProcessBefore) {
  const scratch_directory folder;
  auto child = holder.start({folder.journal()});
  ASSERT_TRUE(child.read_until("open", patience).ok());
  auto second = open_sqlite_journal(quick(folder.journal()));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.status().code(), status_code::already_exists);
  EXPECT_THAT(second.status().message(),
              testing::HasSubstr(fmt::format("process {}:", child.pid())));
  child.kill(SIGKILL);
  ASSERT_TRUE(child.wait(patience).ok());
  EXPECT_TRUE(open_sqlite_journal(quick(folder.journal())).ok());
}

} // namespace
} // namespace headrace::detail::test
