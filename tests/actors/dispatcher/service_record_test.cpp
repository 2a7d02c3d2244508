#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/store/fact_store.hpp"

#include <gtest/gtest.h>

namespace headrace::detail {
namespace {

using record = service_record;
constexpr size_t two_mib = size_t{2} << 20;

/// A record with its store. Makes facts as the dispatcher does: they leave out a graph that the
/// record has already.
struct ServiceRecord : testing::Test {
  memory_store<record> store{record{}};
  uint64_t writer = store.take_over().writer;
  record now;
  uint64_t last_job = 0;

  void commit(const record::fact& what) {
    ASSERT_TRUE(store.append(writer, {what}, {})->ok());
    now.apply(what);
  }
  std::string enroll(const std::string& print, bool for_iteration, size_t bytes = two_mib) {
    dataset_record what{{}, {}, print};
    if (now.datasets().with_fingerprint(print) == nullptr)
      what.graph = mutable_buffer{bytes}.freeze();
    const auto id = now.datasets().id_for({}, what).value();
    commit(record::dataset_registered{id, what, for_iteration});
    return id;
  }
  job_id start(const std::string& dataset, const std::string& name = {}) {
    const job_id id{++last_job};
    commit(record::job_started{{id, name, dataset, {}, to_string(id)}});
    return id;
  }
  void expect_stored() { EXPECT_EQ(store.record(), now); }
};

TEST_F(ServiceRecord, KeepsAGraphOnceAndItsFactsWithoutIt) {
  enroll("print", false);
  const auto held = store.bytes();
  for (int i = 0; i < 100; ++i) enroll("print", false);
  EXPECT_EQ(now.datasets().bytes(), two_mib);
  EXPECT_LT(store.bytes() - held, size_t{64} << 10);
  EXPECT_EQ(now.registered(), 101u);
  expect_stored();
}

TEST_F(ServiceRecord, StaysAsLargeAfterManyIterationsOverOneGraph) {
  for (int i = 0; i < 5'000; ++i) {
    commit(record::job_over{start(enroll("print", true))});
    ASSERT_LE(now.datasets().size(), record::most_left_over);
    ASSERT_EQ(now.datasets().bytes(), two_mib);
    ASSERT_LE(store.bytes(), size_t{4} << 20);
  }
  EXPECT_TRUE(now.jobs().empty());
  EXPECT_EQ(now.registered(), 0u);
  expect_stored();
}

TEST_F(ServiceRecord, StaysAsLargeAfterManyIterationsOverDifferentGraphs) {
  for (int i = 0; i < 200; ++i) {
    commit(record::job_over{start(enroll("print " + std::to_string(i), true))});
    ASSERT_LE(now.datasets().bytes(), record::roomy);
    ASSERT_LE(store.bytes(), size_t{4} << 20);
  }
  expect_stored();
}

TEST_F(ServiceRecord, BoundsIdsThatNoJobIsEverAskedForWith) {
  for (size_t i = 0; i < record::most_unused + 100; ++i) enroll("print", true, 8);
  EXPECT_EQ(now.datasets().size(), record::most_unused);
}

TEST_F(ServiceRecord, BoundsTheBytesOfGraphsThatNoJobIsEverAskedForWith) {
  const auto kept = enroll("kept", false);
  const auto used = enroll("used", true);
  start(used);
  std::string last;
  for (int i = 0; i < 400; ++i) last = enroll("print " + std::to_string(i), true);
  EXPECT_LE(now.datasets().bytes(), (size_t{512} << 20) + 2 * two_mib);
  EXPECT_TRUE(now.datasets().find(kept));
  EXPECT_TRUE(now.datasets().find(used));
  EXPECT_TRUE(now.datasets().find(last));
  expect_stored();
}

TEST_F(ServiceRecord, KeepsWhatSomebodyRegistered) {
  const auto id = enroll("print", false);
  for (int i = 0; i < 2'000; ++i) commit(record::job_over{start(id)});
  EXPECT_TRUE(now.datasets().find(id));
}

TEST_F(ServiceRecord, KeepsADatasetAsLongAsAJobUsesIt) {
  const auto first = enroll("print", true);
  const auto second = enroll("print", true);
  const auto job = start(first, "shared");
  EXPECT_TRUE(now.may_join(job, second));
  commit(record::job_joined{job, second});
  EXPECT_FALSE(now.may_join(job, second));
  const auto others = [&] {
    for (int i = 0; i < 2'000; ++i) commit(record::job_over{start(enroll("other", true, 8))});
  };
  others();
  EXPECT_TRUE(now.datasets().find(first));
  EXPECT_TRUE(now.datasets().find(second));
  commit(record::job_over{job});
  others();
  EXPECT_FALSE(now.datasets().find(first));
  EXPECT_FALSE(now.datasets().find(second));
  EXPECT_EQ(now.datasets().with_fingerprint("print"), nullptr);
  expect_stored();
}

TEST_F(ServiceRecord, GivesNoIdTwice) {
  commit(record::dataset_registered{"1002", {{}, {}, "mine"}});
  std::set<std::string> given;
  for (int i = 0; i < 3'000; ++i) {
    const auto id = enroll("print", true, 8);
    EXPECT_TRUE(given.insert(id).second) << id;
    commit(record::job_over{start(id)});
  }
}

TEST_F(ServiceRecord, LeadsByNoKeyToAJobThatHasAnother) {
  commit(record::job_started{{job_id{1}, {}, {}, {}, "one"}});
  commit(record::job_started{{job_id{1}, {}, {}, {}, "other"}});
  commit(record::job_over{job_id{1}});
  EXPECT_EQ(now.job_of("one"), nullptr);
  EXPECT_EQ(now.job_of("other"), nullptr);
}

} // namespace
} // namespace headrace::detail
