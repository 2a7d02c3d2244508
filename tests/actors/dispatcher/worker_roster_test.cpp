#include "headrace/actors/dispatcher/worker_roster.hpp"

#include "tests/actors/dispatcher/driven_dispatcher.hpp"

#include <gmock/gmock.h>

namespace headrace::detail::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using places = std::map<uint32_t, worker_place>;

result<uint32_t> place(const std::vector<std::string>& list, const std::string& address,
                       const places& taken = {}, bool held = true) {
  return worker_roster::of(list).value().place_for(address, taken,
                                                   [held](const worker_place&) { return held; });
}
worker_place at(const std::string& address) { return {worker_id{9}, address}; }

TEST(WorkerRoster, FindsTheEntryOfAWorker) {
  EXPECT_EQ(place({"a", "b"}, "b:5").value(), 1u);
  EXPECT_EQ(place({"a:4", "a:5"}, "a:5").value(), 1u);
  EXPECT_EQ(place({"a:%port%"}, "a:5").value(), 0u);
  EXPECT_EQ(place({"a:%data%", "grpc://b:7"}, "b:7").value(), 1u);
  EXPECT_EQ(place({"[::1]:7"}, "[::1]:7").value(), 0u);
  EXPECT_EQ(place({"fe80::1"}, "[fe80::1]:7").value(), 0u);
  EXPECT_EQ(place({"localhost"}, "127.0.0.1:7").value(), 0u);
  EXPECT_EQ(place({"Host"}, "host:7").value(), 0u);
}

TEST(WorkerRoster, GivesAWorkerTheEntryOfItsPortBeforeOneOfAny) {
  EXPECT_EQ(place({"a", "a:5"}, "a:5").value(), 1u);
  EXPECT_EQ(place({"a", "a:5"}, "a:6").value(), 0u);
}

TEST(WorkerRoster, LeavesAWorkerTheEntryThatItHas) {
  EXPECT_EQ(place({"a", "a"}, "a:5", {{1, at("a:5")}}).value(), 1u);
}

TEST(WorkerRoster, GivesOneHostAsManyWorkersAsItHasEntries) {
  EXPECT_EQ(place({"a", "a"}, "a:6", {{0, at("a:5")}}).value(), 1u);
  const auto why = place({"a", "a"}, "a:7", {{0, at("a:5")}, {1, at("a:6")}}).status();
  EXPECT_EQ(why.code(), status_code::already_exists);
  EXPECT_EQ(why.message(),
            "the worker at a:7 has no entry of worker_addresses: 'a' is that of 9 at "
            "a:5, 'a' is that of 9 at a:6, whose lease runs");
}

TEST(WorkerRoster, GivesTheEntryOfOneThatIsGoneToTheNextOfItsHost) {
  EXPECT_EQ(place({"a"}, "a:6", {{0, at("a:5")}}, false).value(), 0u);
  EXPECT_EQ(place({"a", "a"}, "a:6", {{0, at("a:5")}}, false).value(), 1u) << "one that nobody had";
}

TEST(WorkerRoster, ForgetsWhoHadAnEntryOfAnEarlierList) {
  EXPECT_EQ(place({"b", "a"}, "b:5", {{0, at("a:5")}}).value(), 0u);
}

TEST(WorkerRoster, RefusesAWorkerThatIsNotInTheList) {
  const auto why = place({"a", "b:5"}, "b:6").status();
  EXPECT_EQ(why.code(), status_code::permission_denied);
  EXPECT_THAT(why.message(),
              HasSubstr("the worker at b:6 is not among the worker_addresses of this "
                        "dispatcher (a, b:5)"));
}

TEST(WorkerRoster, RefusesEntriesThatAreNoAddresses) {
  for (const auto* wrong :
       {"", ":5", "a:", "a:0", "a:70000", "a:grpc", "a b", "[::1", "a:b:c", "[a:b]:5"})
    EXPECT_THAT(worker_roster::of({"ok", wrong}).status().message(),
                HasSubstr("worker_addresses: '"))
      << wrong;
  EXPECT_EQ(worker_roster::of({"a:5", "b", "A:5"}).status().message(),
            "worker_addresses: 'A:5' is there twice; an entry is 'host', 'host:%port%' or "
            "'host:port'");
  EXPECT_TRUE(worker_roster::of({"a", "a"}));
}

// -- the list of a dispatcher ---------------------------------------------------------------------

service_terms listed(std::vector<std::string> list) {
  return {.roster = worker_roster::of(list).value()};
}

/// The index of the entry, in the dispatcher's list, that the worker at that address has.
std::optional<uint32_t> shard_of(const driven_dispatcher& x, const std::string& address) {
  for (const auto& info : x.core.workers().alive())
    if (info.data_address == address)
      return info.shard;
  return {};
}

TEST(DispatcherRoster, TellsJobsWhichShardAWorkerHas) {
  driven_dispatcher x{listed({"a", "b:5"})};
  x.enroll("ten");
  x.open(1, "ten", "train", sharding_policy::data);
  const auto out = x.add_worker("b:5");
  const auto changes = all_of<dispatcher_command::worker_changed>(out);
  ASSERT_EQ(changes.size(), 1u);
  EXPECT_EQ(changes[0].worker.shard, 1u);
}

TEST(DispatcherRoster, RefusesStrangersAndSecondOnes) {
  driven_dispatcher x{listed({"a", "b:5"})};
  auto out = x.add_worker("c:5");
  EXPECT_EQ(answer_to<status>(x.last, out).code(), status_code::permission_denied);
  x.add_worker("a:1", 1);
  out = x.add_worker("a:2", 2);
  EXPECT_THAT(answer_to<status>(x.last, out).message(),
              HasSubstr("'a' is that of 1 at a:1, whose lease runs"));
  EXPECT_EQ(x.core.workers().alive().size(), 1u);
}

TEST(DispatcherRoster, GivesTheEntryOfAWorkerThatIsGoneToTheNext) {
  driven_dispatcher x{listed({"a"})};
  x.add_worker("a:1", 1);
  x.now += x.terms.timing.lease;
  while (const auto next = x.core.next_deadline()) {
    x.now = std::max(x.now, *next);
    x.take(x.core.timer(x.now));
  }
  const auto out = x.add_worker("a:2", 2);
  answer_to<worker_registered>(x.last, out);
  EXPECT_EQ(shard_of(x, "a:2"), 0u);
}

TEST(DispatcherRoster, KnowsAfterARestartWhoHadWhat) {
  driven_dispatcher x{listed({"a", "a"})};
  x.add_worker("a:1", 1);
  x.add_worker("a:2", 2);
  x.restart();
  auto out = x.add_worker("a:3", 3);
  EXPECT_EQ(answer_to<status>(x.last, out).code(), status_code::already_exists)
    << "the others have a lease to come back";
  x.add_worker("a:2", 2, worker_id{2});
  x.add_worker("a:1", 1, worker_id{1});
  EXPECT_EQ(shard_of(x, "a:1"), 0u);
  EXPECT_EQ(shard_of(x, "a:2"), 1u);
}

TEST(DispatcherRoster, GivesAwayAfterARestartWhatNobodyCameBackFor) {
  driven_dispatcher x{listed({"a", "a"})};
  x.add_worker("a:1", 1);
  x.add_worker("a:2", 2);
  x.restart();
  x.add_worker("a:2", 2, worker_id{2});
  x.now += x.terms.timing.lease;
  const auto out = x.add_worker("a:3", 3);
  answer_to<worker_registered>(x.last, out);
  EXPECT_EQ(shard_of(x, "a:3"), 0u);
}

TEST(DispatcherRoster, RefusesAStaticJobWithoutAList) {
  driven_dispatcher x;
  x.enroll("ten");
  for (auto policy : {sharding_policy::file, sharding_policy::data, sharding_policy::file_or_data,
                      sharding_policy::hint}) {
    const auto out = x.open(1, "ten", "train", policy);
    const auto why = answer_to<status>(x.last, out);
    EXPECT_EQ(why.code(), status_code::failed_precondition);
    EXPECT_THAT(why.message(), HasSubstr("start it with worker_addresses"));
  }
}

TEST(DispatcherRoster, RefusesAGraphThatHasNoShards) {
  driven_dispatcher x{listed({"a", "b"})};
  x.enroll("ten");
  auto out = x.open(1, "ten", "train", sharding_policy::file);
  EXPECT_THAT(answer_to<status>(x.last, out).message(), HasSubstr("range is no source over files"));
  out = x.open(1, "ten", "train", sharding_policy::hint);
  EXPECT_THAT(answer_to<status>(x.last, out).message(), HasSubstr("SHARD_HINT"));
  EXPECT_TRUE(x.core.record().jobs().empty());
}

TEST(DispatcherRoster, GivesAJobTheListThatItBeganWith) {
  driven_dispatcher x{listed({"a", "b"})};
  x.enroll("ten");
  const auto job =
    all_of<dispatcher_command::run_job>(x.open(1, "ten", "train", sharding_policy::data))
      .at(0)
      .what;
  EXPECT_THAT(job.worker_addresses, ElementsAre("a", "b"));
  x.terms = listed({"a", "b", "c"});
  x.restart();
  EXPECT_TRUE(x.core.record().jobs().empty()) << "its shards would be others";
}

} // namespace
} // namespace headrace::detail::test
