#include "headrace/actors/job/job_record_codec.hpp"
#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"

#include <capnp/message.h>
#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

template <class Schema>
struct carrier {
  capnp::MallocMessageBuilder all;
  typename Schema::Builder out = all.initRoot<Schema>();
  typename Schema::Reader in() { return out.asReader(); }
};

const round_epoch an_epoch{3, 100, {{task_id{7}, 20}, {task_id{9}, 0}}};

TEST(RoundCodec, KeepsWhoWantsToReadRounds) {
  carrier<schema::OpenIteration> x;
  write_open_iteration(x.out, {.consumer = consumer_id{1}, .index = 5, .rejoins = true});
  const auto back = read_open_iteration(x.in()).value();
  EXPECT_EQ(back.index, 5u);
  EXPECT_TRUE(back.rejoins);
}

TEST(RoundCodec, KeepsHowFarAReaderIs) {
  carrier<schema::ConsumerHeartbeat> x, y;
  write_heartbeat(x.out, {.who = {consumer_id{1}, job_id{2}, 0}, .rounds = round_progress{8, 4}});
  EXPECT_EQ(read_heartbeat(x.in()).rounds, (round_progress{8, 4}));
  write_heartbeat(y.out, {.who = {consumer_id{1}, job_id{2}, 0}});
  EXPECT_FALSE(read_heartbeat(y.in()).rounds);
}

TEST(RoundCodec, KeepsWhatAJobSaysOfItsRounds) {
  carrier<schema::Iteration> x;
  const round_view rounds{2, an_epoch, 4, {{consumer_id{1}, 0, 1}, {consumer_id{6}, 1, 4}}};
  write_iteration(x.out, {.rounds = rounds});
  EXPECT_EQ(read_iteration(x.in()).value().rounds, rounds);
}

TEST(RoundCodec, TakesAnEpochOfNoTaskForNone) {
  carrier<schema::Iteration> x;
  write_iteration(x.out, {.rounds = {.consumers = 2}});
  x.out.getRounds().getEpoch().setNumber(5);
  EXPECT_EQ(read_iteration(x.in()).value().rounds.now, round_epoch{});
}

TEST(RoundCodec, KeepsForHowManyATaskDeals) {
  carrier<schema::StartTask> x;
  write_task_order(x.out, {.id = task_id{1}, .num_consumers = 6}, {});
  EXPECT_EQ(read_task_order(x.in()).value().num_consumers, 6u);
}

TEST(RoundCodec, KeepsWhatStreamsSay) {
  const auto open = read_from_consumer(write_message(1, from_consumer{stream_open{.index = 4}}));
  EXPECT_EQ(std::get<stream_open>(open.value()).index, 4u);
  const auto grant = read_from_consumer(
    write_message(1, from_consumer{stream_grant{.received = 3, .claimed = 2, .epoch = 9}}));
  EXPECT_EQ(std::get<stream_grant>(grant.value()).epoch, 9u);
  EXPECT_EQ(std::get<stream_grant>(grant.value()).claimed, 2u);
  const auto all = read_from_task(write_message(1, from_task{stream_received_by_all{5, 77}}), {});
  EXPECT_EQ(std::get<stream_received_by_all>(all.value()).epoch, 5u);
  EXPECT_EQ(std::get<stream_received_by_all>(all.value()).elements, 77u);
}

TEST(RoundCodec, KeepsTheFactsAndTheStateOfAJobsRounds) {
  using codec = record_codec<job_record>;
  const job_record empty{job_id{5},
                         sharding_policy::off,
                         {},
                         {},
                         0,
                         delivery_guarantee::at_most_once,
                         {target_workers::automatic, false, 2}};
  const std::vector<job_record::fact> facts{
    {0, job_record::begun{42}},
    {0, iteration::fact{iteration::reader_joined{consumer_id{1}, 5, 6, 1}}},
    {0, iteration::fact{iteration::reader_joined{consumer_id{2}, 5, 6, 0}}},
    {0, iteration::fact{round_table::agreed{an_epoch}}},
    {0, iteration::fact{round_table::proposed{4}}},
  };
  EXPECT_EQ(codec::read_facts(codec::write_facts(facts)).value(), facts);
  auto known = empty;
  for (const auto& x : facts) known.apply(x);
  EXPECT_EQ(known.repetitions().at(0).state.rounds().view(),
            (round_view{2, an_epoch, 4, {{consumer_id{2}, 0, 1}, {consumer_id{1}, 1, 1}}}));
  EXPECT_EQ(codec::read_state(codec::write_state(known), empty).value(), known);
}

TEST(RoundCodec, KeepsWhereConsumersThatAreGoneHaveLeftTheRounds) {
  using codec = record_codec<job_record>;
  const job_record empty{job_id{5},
                         sharding_policy::off,
                         {},
                         {},
                         0,
                         delivery_guarantee::at_most_once,
                         {target_workers::automatic, false, 2}};
  const auto of = [](iteration::fact x) { return job_record::fact{0, std::move(x)}; };
  const std::vector<job_record::fact> facts{
    {0, job_record::begun{42}},
    of(iteration::reader_joined{consumer_id{1}, 5, 6, 0}),
    of(iteration::reader_joined{consumer_id{2}, 5, 6, 1}),
    of(round_table::agreed{an_epoch}),
    of(iteration::reader_left{consumer_id{2}, {70, UINT64_MAX}, 20}),
    of(iteration::reader_joined{consumer_id{3}, 5, 6, 1}),
    of(round_table::agreed{{4, 110, {{task_id{7}, 25}}}}),
    of(iteration::reader_left{consumer_id{1}, {105, 8, true}}),
  };
  EXPECT_EQ(codec::read_facts(codec::write_facts(facts)).value(), facts);
  auto known = empty;
  for (const auto& x : facts) known.apply(x);
  const auto& rounds = known.repetitions().at(0).state.rounds();
  EXPECT_EQ(rounds.missed(), 40u);
  EXPECT_EQ(rounds.absent(), (std::vector<round_table::absence>{{105, 8, true}}));
  EXPECT_EQ(codec::read_state(codec::write_state(known), empty).value(), known);
}

} // namespace
} // namespace headrace::detail::test
