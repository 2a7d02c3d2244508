#include "headrace/client/headrace.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

// The rules of sharing, checked through a whole service; tests/actors/sharing checks them for
// random graphs.

namespace headrace::detail {
namespace {

distribute shared(const local_cluster& cluster) {
  return distribute{{.processing_mode = sharding_policy::dynamic, .service = cluster.target()}};
}

std::vector<int64_t> values(const dataset& from) {
  std::vector<int64_t> out;
  for (const element& x : from) out.push_back(x[0].scalar<int64_t>());
  std::ranges::sort(out);
  return out;
}

TEST(SharingRules, WhatATakeLeavesIsReadByTheOthers) {
  local_cluster cluster{{.workers = 3}};
  const auto got = values(dataset::range(1'000).take(340).apply(shared(cluster)));
  EXPECT_EQ(got.size(), 1'000u) << "340 each, as far as there are any";
  EXPECT_TRUE(std::ranges::adjacent_find(got) == got.end()) << "an element came twice";
}

TEST(SharingRules, EachPassOfATakeIsShared) {
  local_cluster cluster{{.workers = 3}};
  const auto got = values(dataset::range(100).take(40).repeat(3).apply(shared(cluster)));
  EXPECT_GE(got.size(), 100u) << "each pass gives what there is, up to 40 for each worker";
  for (auto x : std::set<int64_t>(got.begin(), got.end())) EXPECT_LE(std::ranges::count(got, x), 3);
}

TEST(SharingRules, AZipWithAnEndlessSideEndsWithTheOther) {
  local_cluster cluster{{.workers = 3}};
  const auto pairs = dataset::zip({dataset::range(1'000), dataset::range(3).repeat()});
  const auto got = values(pairs.apply(shared(cluster)));
  EXPECT_EQ(got.size(), 1'000u);
  EXPECT_TRUE(std::ranges::adjacent_find(got) == got.end());
}

TEST(SharingRules, ChoicesAreEachWorkersOwn) {
  local_cluster cluster{{.workers = 3}};
  std::vector<dataset> parts;
  for (int64_t k = 0; k < 3; ++k) parts.push_back(dataset::range(k, k + 1).repeat());
  const auto choices = dataset::range(45).map([](expr x) { return x % 3; });
  const auto got = values(dataset::choose_from_datasets(parts, choices).apply(shared(cluster)));
  for (int64_t k = 0; k < 3; ++k) EXPECT_EQ(std::ranges::count(got, k), 45) << k;
}

TEST(SharingRules, AnEndlessDatasetGoesOnWithWorkersThatCameLater) {
  local_cluster cluster{{.workers = 1, .lease = std::chrono::hours{1}}};
  auto it = dataset::range(1).repeat().apply(shared(cluster)).iterate();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(it.next());
  cluster.add_worker();
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(it.next());
  cluster.stop_worker(0);
  for (int i = 0; i < 10'000; ++i) ASSERT_TRUE(it.next()) << i;
}

} // namespace
} // namespace headrace::detail
