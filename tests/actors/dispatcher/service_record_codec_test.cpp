#include "tests/support/damaged.hpp"
#include "tests/support/test_seed.hpp"

#include "headrace/actors/dispatcher/service_record_codec.hpp"
#include "headrace/actors/store/stored_words.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace headrace::detail::test {
namespace {

using testing::HasSubstr;
using service_codec = record_codec<service_record>;
using service_fact = service_record::fact;

buffer some_bytes(std::string_view x) { return buffer::copy_of(x.data(), x.size()); }
/// A fingerprint that contains a zero byte, as a SHA-256 may.
std::string print_of(uint64_t n) { return std::string{"print\0", 6} + std::to_string(n); }

/// Each kind of fact, several times if it has parts that may be absent.
std::vector<service_fact> every_service_fact() {
  using record = service_record;
  return {
    record::dataset_registered{
      "1001", {some_bytes("graph"), some_bytes("spec"), print_of(1)}, true},
    record::dataset_registered{std::string{"a\0b", 3}, {{}, {}, print_of(1)}, false},
    record::job_started{{job_id{1},
                         "train",
                         "1001",
                         {sharding_policy::dynamic, target_workers::any,
                          delivery_guarantee::at_least_once, 3, cache_terms{}},
                         print_of(9),
                         0,
                         {5, {7, 9}, {2}}}},
    record::job_started{{job_id{2}, "", "a", {}, "consumer 3"}},
    record::job_joined{job_id{1}, "1001"},
    record::job_over{job_id{2}},
    record::job_started{{job_id{3}, "test", "a", {}, "over"}},
    record::job_over{job_id{3}, {7, {9}, {3, 8}}, true},
    record::worker_named{worker_id{7}},
    record::job_started{{job_id{3}, "", "a", {.mode = sharding_policy::hint}, "consumer 4", 5}},
    record::worker_placed{4, {worker_id{7}, "host:1"}},
    record::worker_drains{worker_id{7}},
    record::worker_drains{worker_id{6}},
    record::save_begun{{save_id{3}, "/saved/a", "d", std::string(32, 'f'), "AUTO"}},
    record::save_begun{{save_id{4}, "/saved/b", "d", std::string(32, 'g'), "GZIP"}},
    record::save_ended{{.id = save_id{3},
                        .version = 9,
                        .path = "/saved/a",
                        .dataset_id = "d",
                        .state = save_state::failed,
                        .pieces = 7,
                        .written = 5,
                        .amount = {50, 500},
                        .failure = resource_exhausted("the disk is full"),
                        .whole_because = "take"}},
    record::worker_drained{worker_id{7}},
  };
}

void expect_equal(const std::vector<service_fact>& a, const std::vector<service_fact>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i]) << i;
    const auto* x = std::get_if<service_record::dataset_registered>(&a[i]);
    const auto* y = std::get_if<service_record::dataset_registered>(&b[i]);
    if (x != nullptr && y != nullptr) {
      // `==` compares only the fingerprints of datasets, so their bytes are compared here.
      EXPECT_TRUE(std::ranges::equal(x->what.graph.as<char>(), y->what.graph.as<char>()));
      EXPECT_TRUE(std::ranges::equal(x->what.spec.as<char>(), y->what.spec.as<char>()));
    }
  }
}

TEST(ServiceRecordCodec, KeepsEachKindOfFact) {
  std::set<size_t> seen;
  for (const auto& x : every_service_fact()) {
    seen.insert(x.index());
    const auto back = service_codec::read_facts(service_codec::write_facts({x}));
    ASSERT_TRUE(back) << to_string(back.status());
    expect_equal(*back, {x});
  }
  EXPECT_EQ(seen.size(), std::variant_size_v<service_fact>) << "a kind of fact has no row";
  const auto all = every_service_fact();
  expect_equal(service_codec::read_facts(service_codec::write_facts(all)).value(), all);
}

TEST(ServiceRecordCodec, RefusesWhatANewerBuildWroteAndNamesIt) {
  const auto bytes = write_words<schema::ServiceFacts>([](schema::ServiceFacts::Builder out) {
    out.initFacts(1)[0].initJobStarted().initParameters().setProcessingMode(
      static_cast<schema::ShardingPolicy>(99));
  });
  const auto how = service_codec::read_facts(bytes).status();
  EXPECT_EQ(how.code(), status_code::unimplemented);
  EXPECT_THAT(how.message(), HasSubstr("sharding policy number 99"));
  const auto none =
    write_words<schema::ServiceFacts>([](schema::ServiceFacts::Builder out) { out.initFacts(1); });
  EXPECT_EQ(service_codec::read_facts(none).status().code(), status_code::data_loss);
}

/// Facts that are well formed, and need not be consistent with each other.
service_fact random_service_fact(std::mt19937_64& random) {
  using record = service_record;
  const job_id job{random() % 4 + 1};
  const auto id = std::to_string(1001 + random() % 8);
  switch (random() % 5) {
  case 0:
  case 1:
    return record::dataset_registered{
      id, {some_bytes("graph"), some_bytes("spec"), print_of(random() % 5)}, random() % 4 != 0};
  case 2:
    return record::job_started{{job,
                                random() % 4 ? "train" : "",
                                id,
                                {sharding_policy::dynamic},
                                "key " + std::to_string(random() % 6),
                                0,
                                {random() % 3, {5}, {}}}};
  case 3: return record::job_joined{job, id};
  default: return record::job_over{job, {random() % 3, {}, {random() % 2}}, random() % 2 == 0};
  }
}

TEST(ServiceRecordCodec, KeepsWhateverStateFactsMakeAndGoesOnFromIt) {
  const auto base = test_seed();
  for (uint64_t i = 0; i < 200 && !HasFailure(); ++i) {
    SCOPED_TRACE(testing::Message() << "seed " << base + i);
    std::mt19937_64 random{base + i};
    service_record original, reread;
    for (int n = 0; n < 200; ++n) {
      const auto x = random_service_fact(random);
      original.apply(x);
      reread.apply(service_codec::read_facts(service_codec::write_facts({x})).value().at(0));
      ASSERT_TRUE(reread == original);
      // Both records must also give equal answers: which dataset ids may join job 1, which job has
      // a key, and which id a new dataset gets.
      for (uint64_t id = 1001; id < 1009; ++id)
        ASSERT_EQ(reread.may_join(job_id{1}, std::to_string(id)),
                  original.may_join(job_id{1}, std::to_string(id)));
      for (uint64_t key = 0; key < 6; ++key) {
        const auto* one = original.job_of("key " + std::to_string(key));
        const auto* other = reread.job_of("key " + std::to_string(key));
        ASSERT_EQ(one != nullptr, other != nullptr);
        if (one != nullptr) {
          ASSERT_EQ(*one, *other);
        }
      }
      ASSERT_EQ(reread.datasets().id_for({}, {}).value(),
                original.datasets().id_for({}, {}).value());
      if (n % 20 != 0)
        continue;
      auto again = service_codec::read_state(service_codec::write_state(original), {});
      ASSERT_TRUE(again) << to_string(again.status());
      ASSERT_TRUE(*again == original);
      reread = *std::move(again);
    }
  }
}

TEST(ServiceRecordCodec, KeepsGraphsAndSpecs) {
  service_record x;
  for (const auto& one : every_service_fact()) x.apply(one);
  const auto back = service_codec::read_state(service_codec::write_state(x), {}).value();
  const auto* dataset = back.datasets().with_fingerprint(print_of(1));
  ASSERT_NE(dataset, nullptr);
  EXPECT_TRUE(std::ranges::equal(dataset->graph.as<char>(), std::string_view{"graph"}));
  EXPECT_TRUE(std::ranges::equal(dataset->spec.as<char>(), std::string_view{"spec"}));
  ASSERT_NE(back.job_of(print_of(9)), nullptr);
  EXPECT_EQ(back.job_of(print_of(9))->name, "train");
  EXPECT_EQ(back.job_of(print_of(9))->past, (job_past{5, {7, 9}, {2}}));
  ASSERT_NE(back.ended("over"), nullptr);
  EXPECT_EQ(*back.ended("over"), (service_record::ended_job{job_id{3}, {7, {9}, {3, 8}}}));
  EXPECT_TRUE(back.was_collected(job_id{3}));
}

TEST(ServiceRecordCodec, RefusesStatesThatContradictThemselves) {
  const auto refusal = [](auto&& fill) {
    return service_codec::read_state(write_words<schema::ServiceState>(fill), {})
      .status()
      .message();
  };
  using state = schema::ServiceState::Builder;
  EXPECT_EQ(refusal([](state) {}), "");
  EXPECT_THAT(refusal([](state out) { out.initGraphs(1); }), HasSubstr("has no dataset id"));
  EXPECT_THAT(refusal([](state out) { out.initJobs(2); }), HasSubstr("job 0 is there twice"));
  EXPECT_THAT(refusal([](state out) { out.initPassing(1)[0].setDatasetId("x"); }),
              HasSubstr("no dataset has the id 'x'"));
  EXPECT_THAT(refusal([](state out) { out.initUnused(1).set(0, "x"); }),
              HasSubstr("dataset 'x' is not for one iteration"));
  EXPECT_THAT(refusal([](state out) {
                out.initGraphs(1)[0].initIds(1).set(0, "x");
                out.initPassing(1)[0].setDatasetId("x");
              }),
              HasSubstr("1 datasets for iterations are not in use, and 0 wait"));
}

TEST(ServiceRecordCodec, RefusesDamagedBytesOrReadsARecordThatGoesOn) {
  const auto base = test_seed();
  std::mt19937_64 random{base};
  service_record rich;
  for (const auto& x : every_service_fact()) rich.apply(x);
  for (int n = 0; n < 60; ++n) rich.apply(random_service_fact(random));
  const auto state = service_codec::write_state(rich);
  const auto group = service_codec::write_facts(every_service_fact());
  size_t refused = 0;
  const size_t times = 20'000;
  for (size_t i = 0; i < times; ++i) {
    auto record = service_codec::read_state(damaged(state, random), {});
    if (!record) {
      EXPECT_FALSE(record.status().message().empty());
      ++refused;
      record = rich;
    }
    if (const auto facts = service_codec::read_facts(damaged(group, random)))
      for (const auto& x : *facts) record->apply(x);
    for (int n = 0; n < 10; ++n) record->apply(random_service_fact(random));
    if (i % 16 == 0) {
      EXPECT_TRUE(service_codec::read_state(service_codec::write_state(*record), {}));
    }
  }
  EXPECT_GT(refused, times / 10);
  EXPECT_LT(refused, times) << "nothing was read";
}

} // namespace
} // namespace headrace::detail::test
