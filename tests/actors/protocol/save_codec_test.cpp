#include "headrace/actors/protocol/codec/save_codec.hpp"

#include <capnp/message.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

const save_entry entry{save_id{3}, "/saved/a", "d", std::string("\0f", 2), "GZIP"};

TEST(SaveCodec, ReadsWhatItWrote) {
  std::vector<bool> there(77);
  there[0] = there[8] = there[76] = true;
  const save_question asked{
    .takes = true,
    .running = {{save_id{1}, 2}},
    .reports = {{save_id{1}, 5, save_planned{9, there, true, "take", {4, 5}}},
                {save_id{2}, 6, piece_written{{1, 2}}},
                {save_id{2}, 7, save_finished{{3, 4}}},
                {save_id{2}, 8, status{data_loss("x")}},
                {save_id{2}, 9, step_given_back{}}}};
  capnp::MallocMessageBuilder question;
  auto out = question.initRoot<schema::AskSaveSteps>();
  write_save_question(out, worker_id{1}, incarnation{2}, asked);
  const auto read = read_save_question(out.asReader()).value();
  EXPECT_EQ(read.takes, asked.takes);
  EXPECT_EQ(read.running, asked.running);
  EXPECT_EQ(read.reports, asked.reports);

  const save_steps given{.orders = {{entry, 1, 0, 3, plan_step{}},
                                    {entry, 2, 9, 3, piece_step{8}},
                                    {entry, 3, 9, 3, finish_step{}},
                                    {entry, 4, 9, 1, note_step{aborted("y")}}},
                         .over = {save_id{4}}};
  capnp::MallocMessageBuilder answer;
  auto steps = answer.initRoot<schema::SaveSteps>();
  write_save_steps(steps, given);
  const auto said = read_save_steps(steps.asReader()).value();
  EXPECT_EQ(said.orders, given.orders);
  EXPECT_EQ(said.over, given.over);
}

TEST(SaveCodec, RefusesWhatItDoesNotKnow) {
  capnp::MallocMessageBuilder message;
  auto steps = message.initRoot<schema::SaveSteps>();
  steps.initOrders(1);
  EXPECT_NE(read_save_steps(steps.asReader()).status().message().find("names no step"),
            std::string::npos);
  auto asked = message.initRoot<schema::AskSaveSteps>();
  auto report = asked.initReports(1)[0];
  EXPECT_FALSE(read_save_question(asked.asReader()));
  report.initPlanned().setPieces(9);
  report.getPlanned().initThere(1);
  EXPECT_NE(read_save_question(asked.asReader()).status().message().find("a plan of 9 pieces"),
            std::string::npos);
  report.getPlanned().setPieces(uint64_t{1} << 60);
  EXPECT_FALSE(read_save_question(asked.asReader()));
  auto how = message.initRoot<schema::SaveStatus>();
  how.setState(static_cast<schema::SaveStatus::State>(77));
  EXPECT_NE(read_save_view(how.asReader()).status().message().find("state 77"), std::string::npos);
}

} // namespace
} // namespace headrace::detail::test
