#include "headrace/actors/protocol/codec/dataset_codec.hpp"
#include "headrace/actors/protocol/codec/drain_codec.hpp"
#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/actors/protocol/codec/receipt_codec.hpp"
#include "headrace/actors/protocol/codec/registration_codec.hpp"
#include "headrace/actors/protocol/codec/splits_codec.hpp"
#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "headrace/actors/protocol/codec/task_codec.hpp"
#include "headrace/schemas/failure_codec.hpp"

#include <capnp/message.h>
#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// A message of one struct.
template <class Schema>
struct carrier {
  capnp::MallocMessageBuilder all;
  typename Schema::Builder out = all.initRoot<Schema>();
  typename Schema::Reader in() { return out.asReader(); }
};

TEST(ProtocolCodec, KeepsAnOpenIteration) {
  carrier<schema::OpenIteration> x;
  write_open_iteration(
    x.out, {.consumer = consumer_id{1},
            .dataset_id = "d",
            .job_name = "train",
            .repetition = 3,
            .parameters = {.mode = sharding_policy::dynamic,
                           .targets = target_workers::any,
                           .guarantee = delivery_guarantee::at_least_once,
                           .num_consumers = 3,
                           .cross_trainer_cache = cache_terms{std::chrono::seconds{5}, 2}},
            .job = job_id{4},
            .node = 9});
  const auto back = read_open_iteration(x.in()).value();
  EXPECT_EQ(back.consumer, consumer_id{1});
  EXPECT_EQ(back.dataset_id, "d");
  EXPECT_EQ(back.job_name, "train");
  EXPECT_EQ(back.repetition, 3u);
  EXPECT_EQ(back.parameters, (job_parameters{sharding_policy::dynamic, target_workers::any,
                                             delivery_guarantee::at_least_once, 3,
                                             cache_terms{std::chrono::seconds{5}, 2}}));
  EXPECT_EQ(back.job, job_id{4});
  EXPECT_EQ(back.node, 9u);
  EXPECT_FALSE(back.dataset);
}

TEST(ProtocolCodec, KeepsTheDatasetThatAnIterationBrings) {
  const auto bytes = [](std::string_view x) { return buffer::copy_of(x.data(), x.size()); };
  carrier<schema::OpenIteration> x;
  write_open_iteration(x.out,
                       {.dataset = dataset_registration{
                          .graph = bytes("graph"), .spec = bytes("spec"), .fingerprint = "print"}});
  const auto back = read_open_iteration(x.in()).value().dataset.value();
  EXPECT_EQ(std::string_view(back.graph.as<char>().data(), back.graph.size()), "graph");
  EXPECT_EQ(std::string_view(back.spec.as<char>().data(), back.spec.size()), "spec");
  EXPECT_EQ(back.fingerprint, "print");
}

TEST(ProtocolCodec, KeepsTextsWithAZeroInside) {
  const std::string text{"a\0b", 3};
  carrier<schema::Failure> failure;
  write_failure(failure.out, not_found(text));
  EXPECT_EQ(read_failure(failure.in()), not_found(text));
  carrier<schema::RegisterDataset> dataset;
  write_dataset_registration(dataset.out, {.id = text});
  EXPECT_EQ(read_dataset_registration(dataset.in()).id, text);
  carrier<schema::OpenIteration> open;
  write_open_iteration(open.out, {.dataset_id = text, .job_name = text});
  EXPECT_EQ(read_open_iteration(open.in()).value().dataset_id, text);
  EXPECT_EQ(read_open_iteration(open.in()).value().job_name, text);
  carrier<schema::RegisterWorker> worker;
  const worker_info info{.data_address = text, .boot_id = text, .tags = {text, "c"}};
  write_registration(worker.out, {info, {}});
  EXPECT_EQ(read_registration(worker.in()).info, info);
  carrier<schema::SplitListing> listing;
  const split_listing files{17, 2, {text, "c"}};
  write_listing(listing.out, files, true);
  EXPECT_EQ(*read_listing(listing.in()), files);
  // An id that begins with a zero byte must not be read as an empty id.
  const std::string trainer{"\0a", 2};
  const auto hello =
    read_from_consumer(write_message(1, from_consumer{stream_open{.trainer = trainer}})).value();
  EXPECT_EQ(std::get<stream_open>(hello).trainer, trainer);
}

TEST(ProtocolCodec, RefusesATimingThatNobodyCouldKeep) {
  const auto read = [](uint64_t heartbeat_ns, uint64_t lease_ns) {
    carrier<schema::WorkerRegistered> x;
    x.out.initTiming().setHeartbeatNs(heartbeat_ns);
    x.out.getTiming().setLeaseNs(lease_ns);
    carrier<schema::Iteration> y;
    y.out.setTiming(x.in().getTiming());
    EXPECT_EQ(read_iteration(y.in()).status(), read_registered(x.in()).status());
    return read_registered(x.in()).status();
  };
  EXPECT_TRUE(read(1, 2).ok());
  EXPECT_TRUE(read(1, 3'600'000'000'000).ok());
  for (const auto& [heartbeat, lease] :
       std::vector<std::pair<uint64_t, uint64_t>>{{0, 5},
                                                  {0, 0},
                                                  {3, 5},
                                                  {6, 5},
                                                  {1, 3'600'000'000'001},
                                                  {1, UINT64_MAX},
                                                  {UINT64_MAX, UINT64_MAX}}) {
    const auto how = read(heartbeat, lease);
    EXPECT_EQ(how.code(), status_code::invalid_argument) << heartbeat << " " << lease;
    EXPECT_THAT(how.message(), testing::HasSubstr(std::to_string(heartbeat) + " ns"));
    EXPECT_THAT(how.message(), testing::HasSubstr(std::to_string(lease) + " ns"));
  }
}

TEST(ProtocolCodec, KeepsTheNodesOfATasksReaders) {
  const task_readers all{task_id{1},
                         2,
                         {consumer_id{3}, consumer_id{4}, consumer_id{5}},
                         {{consumer_id{3}, 30}, {consumer_id{5}, 50}}};
  carrier<schema::TaskReaders> x;
  write_task_readers(x.out, all);
  EXPECT_EQ(read_task_readers(x.in()), all);
}

TEST(ProtocolCodec, RefusesAShardingPolicyThatItDoesNotKnow) {
  carrier<schema::OpenIteration> x;
  x.out.initParameters().setProcessingMode(static_cast<schema::ShardingPolicy>(99));
  EXPECT_THAT(read_open_iteration(x.in()).status().message(),
              testing::HasSubstr("sharding policy number 99"));
  carrier<schema::StartTask> y;
  y.out.setProcessingMode(static_cast<schema::ShardingPolicy>(99));
  EXPECT_THAT(read_task_order(y.in()).status().message(),
              testing::HasSubstr("sharding policy number 99"));
}

TEST(ProtocolCodec, KeepsWhoReads) {
  const reader_of who{consumer_id{1}, job_id{2}, 3};
  carrier<schema::ConsumerHeartbeat> beat;
  const std::vector<split_receipt> receipts{{task_id{4},
                                             {{0, 1, {2, 3}}, {1, 1, {0, UINT64_MAX}}},
                                             1,
                                             split_run{0, 1, {4, 1}},
                                             true,
                                             9,
                                             true,
                                             {8, 7}},
                                            {task_id{5}, {}, 0, {}}};
  const std::map<task_id, uint64_t> through{{task_id{6}, UINT64_MAX}, {task_id{7}, 2}};
  write_heartbeat(beat.out, {who, receipts, through});
  EXPECT_EQ(read_heartbeat(beat.in()).handed_out, through);
  EXPECT_EQ(read_heartbeat(beat.in()).who, who);
  EXPECT_EQ(read_heartbeat(beat.in()).receipts, receipts);
  carrier<schema::LeaveIteration> bye;
  const std::map<task_id, uint64_t> marks{{task_id{4}, 50}, {task_id{5}, 0}};
  write_leave(bye.out, {who, marks, receipts});
  EXPECT_EQ(read_leave(bye.in()).who, who);
  EXPECT_EQ(read_leave(bye.in()).handed_out, marks);
  EXPECT_EQ(read_leave(bye.in()).receipts, receipts);
  carrier<schema::TaskReaders> readers;
  const task_readers named{task_id{4}, 7, {consumer_id{2}}, {}, {{consumer_id{1}, 50}}};
  write_task_readers(readers.out, named);
  EXPECT_EQ(read_task_readers(readers.in()), named);
}

TEST(ProtocolCodec, TakesNothingFromAReceiptWhoseRunsCannotBeRead) {
  const auto read = [](std::string runs) {
    carrier<schema::SplitReceipt> x;
    x.out.setReached(kj::arrayPtr(reinterpret_cast<const kj::byte*>(runs.data()), runs.size()));
    return read_receipt(x.in());
  };
  const split_receipt nothing_known{.from_pass = UINT64_MAX};
  const std::string largest("\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 10);
  using namespace std::string_literals;
  EXPECT_EQ(read("\x02\x03\x02\x05\x01\x04\x06"s).reached,
            (std::vector<split_run>{{2, 3, {5, 1}}, {2, 3, {10, 6}}}));
  EXPECT_EQ(read("\x00\x00\x01\x00"s + largest).reached,
            (std::vector<split_run>{{0, 0, {0, UINT64_MAX}}}));
  for (const auto& runs : {
         "\x00"s,                                    // the bytes end after the source
         "\x00\x00\x01\x05"s,                        // the bytes end within a run
         "\x00\x00\x01\x05\x80"s,                    // the bytes end within a number
         "\x00\x00\x01\x05"s + largest,              // a run that ends past the largest number
         "\x00\x00\x02\x05\x01"s + largest + "\x01", // a gap that ends past the largest number
         "\xff\xff\xff\xff\x7f\x00\x00"s,            // a source of a number that is too large
         "\x00\x00"s + largest,                      // more runs than are allowed
         std::string(11, '\xff'),                    // not a number
       })
    EXPECT_EQ(read(runs), nothing_known) << testing::PrintToString(runs);
}

TEST(ProtocolCodec, KeepsAReceiptOfAsManyRunsAsMayBeInFewBytes) {
  split_receipt large{.task = task_id{1}};
  for (uint64_t i = 0; i < most_receipt_runs; ++i) large.reached.push_back({0, 0, {3 * i, 1}});
  carrier<schema::SplitReceipt> x;
  write_receipt(x.out, large);
  EXPECT_LE(x.in().getReached().size(), 2 * most_receipt_runs + 16);
  EXPECT_EQ(read_receipt(x.in()), large);
}

TEST(ProtocolCodec, KeepsAnIteration) {
  const iteration_view view{
    .job = job_id{1},
    .repetition = 2,
    .version = 3,
    .tasks = {{task_id{4}, incarnation{5}, "host:6", "boot", worker_id{7}}},
    .lost = {task_id{8}, task_id{9}},
    .starting = {{task_id{10}, incarnation{11}, "host:12", "boot", worker_id{13}}},
    .finished = true,
    .shared = true,
    .failure = internal_error("out of luck"),
    .timing = {2s, 7s},
    .held = {task_id{3}, task_id{4}},
    .losses = {.tasks = 2, .splits = 5, .reread = 40, .elements = 6},
    .since = 2,
    .gone = {task_id{14}},
    .unserved = {"host", "host:5"},
  };
  carrier<schema::Iteration> x;
  write_iteration(x.out, view);
  const auto back = read_iteration(x.in()).value();
  EXPECT_EQ(back.job, view.job);
  EXPECT_EQ(back.repetition, view.repetition);
  EXPECT_EQ(back.version, view.version);
  EXPECT_EQ(back.tasks, view.tasks);
  EXPECT_EQ(back.lost, view.lost);
  EXPECT_EQ(back.losses, view.losses);
  EXPECT_EQ(back.held, view.held);
  EXPECT_EQ(back.unserved, view.unserved);
  EXPECT_EQ(back.starting, view.starting);
  EXPECT_EQ(back.since, view.since);
  EXPECT_EQ(back.gone, view.gone);
  EXPECT_TRUE(back.finished);
  EXPECT_TRUE(back.shared);
  EXPECT_EQ(back.failure, view.failure);
  EXPECT_EQ(back.timing, view.timing);
}

TEST(ProtocolCodec, KeepsATaskOrder) {
  const task_order order{.id = task_id{1},
                         .life = incarnation{2},
                         .job = job_id{3},
                         .repetition = 4,
                         .policy = sharding_policy::dynamic,
                         .seed = 5,
                         .shared = true,
                         .fingerprint = std::string("a\0b", 3),
                         .shards = 6,
                         .shard = 5,
                         .cache = cache_terms{std::chrono::seconds{5}, 2},
                         .resumes = true};
  carrier<schema::StartTask> x;
  write_task_order(x.out, order, {});
  EXPECT_EQ(read_task_order(x.in()).value(), order);
  EXPECT_EQ(x.in().getGraph().size(), 0u);
  write_task_order(x.out, order, buffer::copy_of("graph", 5));
  EXPECT_EQ(x.in().getGraph().size(), 5u);
}

TEST(ProtocolCodec, KeepsHowATaskEnded) {
  task_end end{.id = task_id{1}, .life = incarnation{2}, .job = job_id{3}, .made = {4, 5, 6}};
  const auto there_and_back = [](const task_end& what) {
    carrier<schema::TaskEnded> x;
    write_task_end(x.out, what);
    return read_task_end(x.in()).value();
  };
  auto back = there_and_back(end);
  EXPECT_EQ(back.id, end.id);
  EXPECT_EQ(back.life, end.life);
  EXPECT_EQ(back.job, end.job);
  EXPECT_EQ(back.made, end.made);
  EXPECT_EQ(back.outcome, task_outcome::exhausted);
  end.outcome = task_outcome::failed;
  end.failure = data_loss("torn");
  back = there_and_back(end);
  EXPECT_EQ(back.outcome, task_outcome::failed);
  EXPECT_EQ(back.failure, end.failure);
  end.outcome = task_outcome::left;
  back = there_and_back(end);
  EXPECT_EQ(back.outcome, task_outcome::left);
  EXPECT_TRUE(back.failure.ok());
  EXPECT_TRUE(back.unread.empty());
  end.unread = {{1, 2, 3, {4, 5}}, {6, 7, 8, {}}};
  EXPECT_EQ(there_and_back(end).unread, end.unread);
  EXPECT_FALSE(there_and_back(end).by_itself);
  end.held = {{consumer_id{1}, {9, 3}}, {consumer_id{2}, {5, 5}}};
  EXPECT_EQ(there_and_back(end).held, end.held);
  end.by_itself = true;
  end.closed = {{9, 8, 7, {6, 5}}};
  EXPECT_TRUE(there_and_back(end).by_itself);
  EXPECT_EQ(there_and_back(end).closed, end.closed);
}

splits_request there_and_back(const splits_request& what) {
  carrier<schema::LeaseSplits> x;
  write_splits_request(x.out, what);
  return read_splits_request(x.in());
}

TEST(ProtocolCodec, KeepsAQuestionForSplitsAndItsAnswer) {
  splits_request asked{
    .task = task_id{1}, .life = incarnation{2}, .job = job_id{3}, .wish = {.which = {4, 5, 0}}};
  for (const auto total : {std::optional<uint64_t>{}, std::optional<uint64_t>{7}}) {
    asked.wish.total = total;
    const auto back = there_and_back(asked);
    EXPECT_EQ(back.task, asked.task);
    EXPECT_EQ(back.life, asked.life);
    EXPECT_EQ(back.job, asked.job);
    EXPECT_EQ(back.wish.which, asked.wish.which);
    EXPECT_EQ(back.wish.total, total);
    EXPECT_EQ(back.wish.listing, nullptr);
    EXPECT_EQ(back.wish.closes, std::nullopt);
  }
  lease_answer in_pieces{split_range{8, 9}};
  in_pieces.more = {{3, 1}, {5, 2}};
  for (const auto& answer :
       {lease_answer{}, lease_answer{split_range{8, 9}}, in_pieces,
        lease_answer{pass_over{.alone = true}}, lease_answer{pass_over{.running = 3}}}) {
    carrier<schema::SplitsLeased> x;
    write_splits_answer(x.out, answer);
    EXPECT_EQ(read_splits_answer(x.in()).value(), answer);
  }
}

TEST(ProtocolCodec, SendsTheEntriesOfAListingWithTheFirstQuestionAboutAPass) {
  const split_listing found{17, 2, {"a", "b"}};
  splits_request asked{.wish = {.listing = std::make_shared<split_listing>(found)}};
  EXPECT_EQ(*there_and_back(asked).wish.listing, found);
  asked.wish.which.number = 1;
  EXPECT_EQ(*there_and_back(asked).wish.listing, (split_listing{17, 2, {}}));
}

TEST(ProtocolCodec, KeepsWhatATaskCloses) {
  const splits_request what{.wish = {.which = {4, 5, 6}, .closes = unread_splits{4, 5, 6, {7, 8}}}};
  const auto back = there_and_back(what);
  EXPECT_EQ(back.wish.which, what.wish.which);
  EXPECT_EQ(back.wish.closes, what.wish.closes);
}

TEST(ProtocolCodec, KeepsWhatIsSaidOfAWorkerThatIsToLeave) {
  for (const drain_request& what :
       {drain_request{.which = "host:1"},
        drain_request{.which = worker_id{7}, .known = 0, .life = incarnation{9}}}) {
    carrier<schema::DrainWorker> x;
    write_drain_request(x.out, what);
    const auto back = read_drain_request(x.in());
    ASSERT_TRUE(back);
    EXPECT_EQ(back->which, what.which);
    EXPECT_EQ(back->known, what.known);
    EXPECT_EQ(back->life, what.life);
  }
  carrier<schema::WorkerDrains> x;
  const worker_drains what{worker_id{7}, incarnation{9}, "host:1", 3, true, 2};
  write_worker_drains(x.out, what);
  EXPECT_EQ(read_worker_drains(x.in()), what);
}

TEST(ProtocolCodec, RefusesARequestToDrainThatNamesNoWorker) {
  for (const drain_request& what :
       {drain_request{.which = std::string{}}, drain_request{.which = worker_id{}}}) {
    carrier<schema::DrainWorker> x;
    write_drain_request(x.out, what);
    EXPECT_EQ(read_drain_request(x.in()).status().code(), status_code::invalid_argument);
  }
  carrier<schema::DrainWorker> nothing;
  EXPECT_EQ(read_drain_request(nothing.in()).status().code(), status_code::invalid_argument);
}

TEST(ProtocolCodec, KeepsARegistration) {
  const worker_registration who{
    {.id = worker_id{1},
     .life = incarnation{2},
     .data_address = "host:3",
     .boot_id = "boot",
     .tags = {"gpu", "big"},
     .pid = 4,
     .draining = true},
    {{task_id{5}, job_id{6}}},
  };
  carrier<schema::RegisterWorker> x;
  write_registration(x.out, who);
  const auto back = read_registration(x.in());
  EXPECT_EQ(back.info, who.info);
  EXPECT_EQ(back.tasks, who.tasks);
  carrier<schema::WorkerRegistered> y;
  write_registered(y.out, {worker_id{1}, {2s, 7s}, true});
  EXPECT_EQ(read_registered(y.in()).value().id, worker_id{1});
  EXPECT_EQ(read_registered(y.in()).value().timing, (lease_timing{2s, 7s}));
  EXPECT_TRUE(read_registered(y.in()).value().leave);
}

} // namespace
} // namespace headrace::detail::test
