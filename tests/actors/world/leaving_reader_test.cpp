#include "tests/actors/world/judge.hpp"

#include <gtest/gtest.h>

namespace headrace::detail::test {
namespace {

using namespace std::chrono_literals;

/// Two trainers of one job that each read only from the worker of their own process. The first
/// trainer leaves in order before the end, so that its worker has no reader any more.
class LeavingReader : public testing::TestWithParam<delivery_guarantee> {
protected:
  LeavingReader() {
    about.seed = 5;
    about.guarantee = GetParam();
    about.data = {.splits = 3'000, .rows = 1};
    about.job_name = "shared";
    about.targets = target_workers::local;
    w = std::make_unique<world>(about);
    for (uint64_t place : {1, 2}) {
      w->add_worker({.per_block = 1ms, .most_rows = 40, .place = place});
      trainer_process::options what{
        .reads = {.dataset_id = "d",
                  .job_name = about.job_name,
                  .place = place,
                  .beside_a_worker = true,
                  .parameters = {.mode = sharding_policy::dynamic,
                                 .targets = about.targets,
                                 .guarantee = about.guarantee},
                  .spec = element_spec{tensor_spec{dtype::int64, shape{}}},
                  .worker_timeout = 10s},
        .pause = 1ms,
        .burst = 4,
        .leaves_after = {}};
      if (place == 1)
        what.leaves_after = 200;
      w->add_trainer(what);
    }
    w->time.run_until(w->time.now() + 400s);
  }

  world::options about;
  std::unique_ptr<world> w;
};

TEST_P(LeavingReader, CostsTheOthersNothingWhereEachRowIsASplitOfItsOwn) {
  judge j{*w, {}};
  for (const auto& [rule, what] : j.all()) ADD_FAILURE() << rule << ": " << what;
  EXPECT_TRUE(j.missing().empty());
  EXPECT_TRUE(w->trainers[0].history().goodbye_heard);
  EXPECT_FALSE(w->lost_tasks.empty()) << "nobody read from that worker any more";
  size_t given = 0;
  for (const auto& t : w->trainers) given += t.history().handed_out.size();
  EXPECT_EQ(given, w->data.elements()) << "nothing came twice";
  EXPECT_EQ(w->trainers[1].history().remark, "");
}

INSTANTIATE_TEST_SUITE_P(Guarantees, LeavingReader,
                         testing::Values(delivery_guarantee::at_most_once,
                                         delivery_guarantee::at_least_once),
                         [](const auto& info) {
                           return info.param == delivery_guarantee::at_most_once ? "AtMostOnce"
                                                                                 : "AtLeastOnce";
                         });

} // namespace
} // namespace headrace::detail::test
