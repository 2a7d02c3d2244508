#include "tests/client/support/outcomes.hpp"
#include "tests/client/support/own_cluster.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <future>

namespace headrace::detail {

namespace {

using test::test_dispatcher;
using test::test_worker;
using test::through_f;
using test::thrown_by;
using test::with_function;
using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;

TEST(BadInput, AnUnknownDatasetIdIsNamed) {
  local_cluster cluster{{.workers = 1}};
  const auto why = thrown_by([&] { from_dataset_id({.service = cluster.target()}, "no such id"); });
  EXPECT_EQ(why.code(), status_code::not_found);
  EXPECT_THAT(why.message(), AllOf(HasSubstr("no dataset has the id 'no such id'"),
                                   HasSubstr("that register_dataset returned would be right")));
}

TEST(BadInput, AnIdThatAnotherDatasetHasIsRefused) {
  local_cluster cluster{{.workers = 1}};
  EXPECT_EQ(register_dataset(cluster.target(), dataset::range(3), "mine"), "mine");
  EXPECT_EQ(register_dataset(cluster.target(), dataset::range(3), "mine"), "mine");
  const auto why =
    thrown_by([&] { register_dataset(cluster.target(), dataset::range(4).batch(2), "mine"); });
  EXPECT_EQ(why.code(), status_code::already_exists);
  EXPECT_THAT(why.message(), AllOf(HasSubstr("'mine' is taken"), HasSubstr("choose another id")));
}

TEST(BadInput, AnIdThatADatasetOfTheSameStructureHasMeansThatOne) {
  local_cluster cluster{{.workers = 1}};
  std::string warned;
  const auto warn = [&](const std::string& text) { warned = text; };
  register_dataset(cluster.target(), dataset::range(3), {.id = "mine", .warn = warn});
  EXPECT_EQ(warned, "");
  EXPECT_EQ(register_dataset(cluster.target(), dataset::range(5), {.id = "mine", .warn = warn}),
            "mine");
  EXPECT_THAT(warned, HasSubstr("'mine' is taken by another graph"));
  const auto read = from_dataset_id({.service = cluster.target()}, "mine");
  size_t elements = 0;
  for (const element& x : read) elements += x.size();
  EXPECT_EQ(elements, 3u);
}

TEST(BadInput, NoWorkerWithinItsTimeIsAnErrorThatSaysWhatToStart) {
  local_cluster cluster{{.workers = 0, .heartbeat = std::chrono::milliseconds{50}}};
  auto it = dataset::range(3)
              .apply(distribute{
                {.service = cluster.target(), .worker_timeout = std::chrono::milliseconds{200}}})
              .iterate();
  const auto first = it.next();
  EXPECT_EQ(first.status().code(), status_code::unavailable);
  EXPECT_THAT(first.status().message(), HasSubstr("headrace worker"));
  const auto second = it.next();
  ASSERT_TRUE(second);
  EXPECT_FALSE(second->has_value());
}

TEST(BadInput, AnElementThatDoesNotComeInItsTimeIsAnErrorThatNamesTheWorker) {
  test_dispatcher dispatcher;
  std::promise<void> done;
  test_worker worker{dispatcher.target(),
                     with_function([over = done.get_future().share()](const block& rows) {
                       over.wait();
                       return result<block>{rows};
                     })};
  dispatcher.await_workers(1);
  auto it = through_f(3)
              .apply(distribute{
                {.service = dispatcher.target(), .stall_timeout = std::chrono::milliseconds{100}}})
              .ignore_errors() // drops the errors of elements, but not the error of the stall
              .batch(2)
              .iterate();
  const auto first = it.next();
  done.set_value();
  EXPECT_EQ(first.status().code(), status_code::deadline_exceeded);
  EXPECT_THAT(first.status().message(),
              AllOf(HasSubstr("no element came"), HasSubstr("on the worker at"),
                    HasSubstr("`stall_timeout`")));
  EXPECT_THAT(thrown_by([] {
                dataset::range(3).apply(
                  distribute{{.service = "127.0.0.1:1", .stall_timeout = duration::zero()}});
              }).message(),
              HasSubstr("stall_timeout must be more than 0"));
}

TEST(BadInput, AnElementThatNoMessageHoldsIsAnErrorThatNamesTheLimitAndItsSize) {
  dispatcher_server dispatcher;
  worker_server worker{{.dispatcher = dispatcher.target()}}; // does not serve this process
  worker_server here{{.dispatcher = dispatcher.target(), .serves_own_process = true}};
  ASSERT_TRUE(await_service_workers(dispatcher.target(), 2, test::patience).ok());
  constexpr size_t parts = 2'500; // each has two segments: the ends of its strings, and their bytes
  const auto wide = dataset::range(10).map([](expr) {
    return expr_structure::tuple(
      std::vector<expr_structure>(parts, constant(std::vector<std::string>(20, "ten bytes!"))));
  });
  const auto over = [&](target_workers targets) {
    return wide.apply(distribute{{.service = dispatcher.target(), .target_workers = targets}});
  };
  size_t came = 0;
  for (const element& x : over(target_workers::local)) came += x.size() == parts;
  EXPECT_EQ(came, 10u) << "nothing is made into a message inside of a process";
  auto it = over(target_workers::any).iterate();
  auto first = it.next();
  while (first && *first) first = it.next(); // skips the elements of the worker in this process
  EXPECT_EQ(first.status().code(), status_code::resource_exhausted);
  EXPECT_THAT(first.status().message(), AllOf(HasSubstr("5000"), HasSubstr("at most 4096"),
                                              ContainsRegex("an element of [0-9]{6,7} bytes"),
                                              HasSubstr("fewer or smaller")));
  const auto second = it.next();
  ASSERT_TRUE(second) << to_string(second.status());
  EXPECT_FALSE(second->has_value());
}

struct refused {
  std::function<void(const dataset&)> call;
  std::vector<std::string> words;
};

TEST(BadInput, SizesBelowOneAreRefusedWhereTheyAreWritten) {
  const auto numbers = dataset::range(3);
  const auto of_three = [](expr n) { return dataset::range(n); };
  const refused calls[]{
    {[](const dataset& x) { x.batch(0); }, {"batch", "batch_size is 0", "at least 1"}},
    {[](const dataset& x) { x.batch(-4); }, {"batch", "batch_size is -4", "at least 1"}},
    {[](const dataset& x) { x.shuffle(0); }, {"shuffle", "buffer_size is 0", "at least 1"}},
    {[](const dataset& x) { x.shuffle(-1); }, {"shuffle", "buffer_size is -1", "at least 1"}},
    {[](const dataset& x) { x.prefetch(-2); }, {"prefetch", "buffer_size is -2", "1 or more"}},
    {[&](const dataset& x) { x.interleave(of_three, {.cycle_length = 0}); },
     {"interleave", "cycle_length is 0", "at least 1"}},
    {[&](const dataset& x) { x.interleave(of_three, {.block_length = -3}); },
     {"interleave", "block_length is -3", "at least 1"}},
    {[](const dataset& x) {
       x.apply(distribute{{.service = "127.0.0.1:1", .max_outstanding_requests = -1}});
     },
     {"max_outstanding_requests is -1", "0 (by bytes alone) or more"}},
    {[](const dataset&) { dataset::range(0, 10, 0); }, {"range", "step is 0", "another number"}},
    {[](const dataset&) { local_cluster{{.workers = -1}}; }, {"workers is -1", "0 or more"}},
  };
  for (const auto& one : calls) {
    const auto why = thrown_by([&] { one.call(numbers); });
    EXPECT_EQ(why.code(), status_code::invalid_argument);
    for (const auto& word : one.words) EXPECT_THAT(why.message(), HasSubstr(word));
  }
}

TEST(BadInput, AFunctionThatDoesNotFitItsElementsIsRefusedWhereItIsWritten) {
  const auto rows = dataset::from_tensor_slices({constant(std::vector<float>{1, 2, 3, 4, 5, 6})})
                      .batch(2, {.drop_remainder = true});
  const refused calls[]{
    {[](const dataset& x) { x.map([](expr v) { return strings::length(v); }); },
     {"length", "string", "float32"}},
    {[](const dataset& x) { x.map([](expr v) { return reshape(v, {3}); }); },
     {"reshape", "[2]", "[3]"}},
    {[](const dataset& x) {
       x.map([](expr v) { return v + constant(std::vector<float>{1, 2, 3}); });
     },
     {"[2]", "[3]"}},
    {[](const dataset& x) { x.map([](expr v) { return v + constant(int64_t{1}); }); },
     {"float32", "int64"}},
    {[](const dataset& x) { x.filter([](expr v) { return v > 1.0f; }); },
     {"filter", "it must give one bool scalar"}},
    {[](const dataset& x) { x.filter([](expr v) { return v[0]; }); },
     {"filter", "float32", "it must give one bool scalar"}},
    {[](const dataset& x) { x.concatenate(dataset::range(3)); },
     {"concatenate", "float32", "int64"}},
    {[](const dataset& x) { x.map([](expr a, expr b) { return a + b; }); },
     {"the function must take 1"}},
  };
  for (const auto& one : calls) {
    const auto why = thrown_by([&] { one.call(rows); });
    EXPECT_EQ(why.code(), status_code::invalid_argument);
    for (const auto& word : one.words) EXPECT_THAT(why.message(), HasSubstr(word));
  }
}

} // namespace

} // namespace headrace::detail
