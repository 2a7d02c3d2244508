#include "headrace/pipeline/storage/saved_writer.hpp"
#include "tests/pipeline/saving/saving.hpp"

#include <chrono>
#include <csignal>
#include <fmt/format.h>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

// Writers of pieces that are stopped or killed, and readers that begin before the pieces exist.

namespace headrace::detail {
namespace {

using namespace test::saving;
using test::range;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

constexpr int64_t numbers = 400'000;

/// A graph whose elements have several times the bytes that are written at once. Its function, from
/// `with_event`, calls a function of the test for each block in the second half of the numbers.
dataset_ptr eventful() {
  auto what = std::make_shared<function>();
  what->argument = element_spec{tensor_spec{dtype::int64, {}}};
  what->named = {"event"};
  what->declared = what->argument;
  return make_take(make_map(range(0, numbers), what).value(), numbers).value();
}

template <class Event>
iterator_context with_event(Event event) {
  iterator_context out;
  out.find_function = [event](const function_reference&) -> named_function {
    return [event](const block& rows) -> result<block> {
      if (rows.columns[0].values<int64_t>()[0] > numbers / 2)
        event();
      return rows;
    };
  };
  return out;
}

iterator_context without_event() {
  return with_event([] {});
}

class PieceWriters : public testing::Test {
protected:
  void SetUp() override {
    plan = open_save(folder, graph, terms_of(graph), without_event()).value().plan;
    ASSERT_EQ(plan.pieces(), 1u);
  }
  void killed_midway() const {
    const auto child = ::fork();
    if (child == 0) {
      const auto end = write(folder, graph, plan, 0, with_event([] { std::raise(SIGKILL); }));
      ::_exit(end ? 0 : 1);
    }
    int how = 0;
    ASSERT_EQ(::waitpid(child, &how, 0), child);
    ASSERT_TRUE(WIFSIGNALED(how));
  }
  result<saved_amount> write_it() const { return write(folder, graph, plan, 0, without_event()); }
  dataset_ptr piece(std::chrono::nanoseconds patience) const {
    return make_load_piece(folder, plan.spec, scalar_constant(0), patience.count()).value();
  }
  /// The error of opening an iterator; empty if there is no error.
  std::string failure_of(const dataset_ptr& from, std::stop_token stop = {}) const {
    iterator_context context;
    context.stop = std::move(stop);
    auto rows = make_iterator(from, context);
    return rows ? "" : to_string(rows.status());
  }

  test::scratch_folder scratch;
  std::string folder = scratch.path() + "/saved";
  dataset_ptr graph = eventful();
  save_plan plan;
};

constexpr std::chrono::minutes long_enough{10};

TEST_F(PieceWriters, OneThatIsStoppedLeavesNothing) {
  std::stop_source halt;
  auto from = with_event([&] { halt.request_stop(); });
  from.stop = halt.get_token();
  EXPECT_EQ(to_string(write(folder, graph, plan, 0, from).status()),
            "cancelled: the save was stopped");
  EXPECT_THAT(names_in(piece_folder(folder, 0)), IsEmpty());
  EXPECT_EQ(finish_save(folder, plan).status().code(), status_code::failed_precondition);
  EXPECT_EQ(write_it().value().rows, static_cast<uint64_t>(numbers));
}

TEST_F(PieceWriters, OneThatIsKilledLeavesNothingThatIsThere) {
  killed_midway();
  const auto left = names_in(piece_folder(folder, 0));
  ASSERT_EQ(left.size(), 2u); // the file with rows, and the `.writing` file of its writer
  EXPECT_FALSE(find_saved(piece_folder(folder, 0)).value());
  EXPECT_FALSE(open_save(folder, graph, terms_of(graph), without_event()).value().there[0]);
  EXPECT_EQ(finish_save(folder, plan).status().code(), status_code::failed_precondition);
  // The next writer removes the files that the killed one left.
  ASSERT_TRUE(write_it().ok());
  for (const auto& file : left) EXPECT_THAT(names_in(piece_folder(folder, 0)), Not(Contains(file)));
  ASSERT_TRUE(finish_save(folder, plan).ok());
  EXPECT_EQ(test::read_numbers(loaded(folder)), test::read_numbers(range(0, numbers)));
}

TEST_F(PieceWriters, FinishRemovesWhatWasLeftAfterAnotherHadWrittenThePiece) {
  const auto at = piece_folder(folder, 0);
  ASSERT_TRUE(write_it().ok());
  const auto whole = names_in(at);
  for (const auto* file : {"0123456789abcdef.writing", "0123456789abcdef-00000.rows",
                           "0123456789abcdef-00001.rows.partial-1-0"})
    std::ofstream{at + "/" + file} << "";
  // The files of a writer that is still active are kept.
  const auto living = saved_writer::open(at, plan.spec, {}).value();
  std::ofstream{at + "/fedcba9876543210.writing"} << "";
  ASSERT_EQ(names_in(at).size(), whole.size() + 2);
  ASSERT_TRUE(finish_save(folder, plan).ok());
  EXPECT_EQ(names_in(at).size(), whole.size() + 1);
  EXPECT_EQ(test::read_numbers(loaded(folder)).size(), static_cast<size_t>(numbers));
}

TEST_F(PieceWriters, AReaderWaitsForAPiece) {
  std::vector<int64_t> got;
  std::thread reader{[&] { got = test::read_numbers(piece(long_enough)); }};
  const auto written = write_it();
  reader.join();
  EXPECT_TRUE(written.ok());
  EXPECT_EQ(got, test::read_numbers(range(0, numbers)));
}

TEST_F(PieceWriters, AReadersPatienceEnds) {
  EXPECT_EQ(failure_of(piece(std::chrono::nanoseconds{1})),
            fmt::format("deadline_exceeded: load: piece 0 of '{}' was not written within 1e-09 s "
                        "(stall_timeout)",
                        folder));
  ASSERT_TRUE(write_it().ok());
  EXPECT_EQ(failure_of(piece(std::chrono::nanoseconds{1})), "");
}

TEST_F(PieceWriters, AReaderHearsThatTheSaveEndedEarly) {
  std::string heard;
  std::thread reader{[&] { heard = failure_of(piece(long_enough)); }};
  const auto noted = note_save_failure(folder, plan.id, data_loss("bad record"));
  reader.join();
  EXPECT_TRUE(noted.ok());
  EXPECT_EQ(heard, fmt::format("aborted: load: '{}': saving it ended early: bad record", folder));
  // A piece that is written can be read, although the failure of the save is noted.
  ASSERT_TRUE(write_it().ok());
  EXPECT_EQ(failure_of(piece(long_enough)), "");
}

TEST_F(PieceWriters, AReaderThatIsStoppedEnds) {
  std::stop_source halt;
  std::string heard;
  std::thread reader{[&] { heard = failure_of(piece(long_enough), halt.get_token()); }};
  halt.request_stop();
  reader.join();
  EXPECT_THAT(heard, HasSubstr("cancelled: "));
}

TEST_F(PieceWriters, APieceThatIsNotOfAFinishedSaveIsTold) {
  ASSERT_TRUE(write_it().ok());
  ASSERT_TRUE(finish_save(folder, plan).ok());
  const auto other = make_load_piece(folder, plan.spec, scalar_constant(1),
                                     long_enough / std::chrono::nanoseconds{1})
                       .value();
  EXPECT_EQ(failure_of(other),
            fmt::format("data_loss: load: '{}' is saved, and its piece 1 is not there", folder));
}

} // namespace
} // namespace headrace::detail
