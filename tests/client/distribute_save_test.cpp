#include "headrace/client/headrace.hpp"
#include "headrace/runtime/base/address.hpp"
#include "tests/pipeline/support/rows.hpp"
#include "tests/support/patience.hpp"
#include "tests/support/taking.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <numeric>
#include <string>
#include <vector>

namespace headrace::detail {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::why;
using testing::HasSubstr;

std::vector<int64_t> numbers(const dataset& from) {
  std::vector<int64_t> out;
  for (const auto& x : from) out.push_back(x[0].scalar<int64_t>());
  return out;
}

std::vector<int64_t> first_numbers(int64_t n) {
  std::vector<int64_t> out(static_cast<size_t>(n));
  std::iota(out.begin(), out.end(), 0);
  return out;
}

/// A service whose workers call a function that a test can block.
class DistributeSave : public testing::Test {
protected:
  void start_worker() {
    workers.push_back(std::make_unique<worker_server>(
      worker_server_options{.dispatcher = dispatcher->target(),
                            .lease = 1s,
                            .find_function = [this](const function_reference&) -> named_function {
                              return [this](const block& rows) -> result<block> {
                                rows_made += rows.rows;
                                gate.wait(false);
                                return rows;
                              };
                            },
                            .drain = 200ms}));
    ASSERT_TRUE(await_service_workers(dispatcher->target(), workers.size(), test::patience).ok());
  }
  void start_dispatcher(uint16_t port = 0) {
    dispatcher = std::make_unique<dispatcher_server>(
      dispatcher_server_options{.endpoint = {.port = port}, .heartbeat = 50ms, .lease = 1s});
  }
  DistributeSave() { start_dispatcher(); }
  ~DistributeSave() override { open_gate(); }
  void open_gate() {
    gate = true;
    gate.notify_all();
  }
  /// Elements that are not made before the gate is open.
  static dataset held(int64_t n) {
    return dataset::range(n).map(named_call{"held", tensor_spec{dtype::int64, {}}, true});
  }
  distribute_save_options waiting() const {
    return {.service = dispatcher->target(), .wait = true, .worker_timeout = test::patience};
  }
  distribute_save_options begun() const { return {.service = dispatcher->target()}; }
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  std::string refusal(const dataset& what, const std::string& where,
                      const distribute_save_options& how) const {
    return why([&] { static_cast<void>(distribute_save(what, where, how)); });
  }

  test::scratch_folder folder;
  std::atomic<bool> gate{false};
  std::atomic<size_t> rows_made{0};
  std::unique_ptr<dispatcher_server> dispatcher;
  std::vector<std::unique_ptr<worker_server>> workers;
};

TEST_F(DistributeSave, AllWorkersWriteWhatIsLoadedInOrder) {
  for (int i = 0; i < 3; ++i) start_worker();
  const auto squares = dataset::range(1000).map([](expr x) { return x * x; });
  std::vector<std::string> states;
  size_t most_workers = 0;
  auto how = waiting();
  how.on_progress = [&](const save_status& x) {
    if (states.empty() || states.back() != x.state)
      states.push_back(x.state);
    most_workers = std::max<size_t>(most_workers, x.workers);
  };
  const auto done = distribute_save(squares, path("squares"), how);
  EXPECT_EQ(done.state, "saved");
  EXPECT_GT(most_workers, 1u);
  EXPECT_EQ(done.elements, 1000);
  EXPECT_EQ(done.pieces, done.written);
  EXPECT_GE(done.pieces, 50);
  EXPECT_EQ(states.back(), "saved");
  EXPECT_EQ(numbers(dataset::load(path("squares"))), numbers(squares));
  EXPECT_EQ(dataset::load(path("squares")).cardinality(), 1000);
  const auto status = get_service_status(dispatcher->target()).value();
  ASSERT_EQ(status.saves.size(), 1);
  EXPECT_EQ(status.saves[0].path, path("squares"));
  EXPECT_EQ(status.saves[0].state, "saved");
}

TEST_F(DistributeSave, TheSameAgainIsDoneAndAnotherIsRefused) {
  start_worker();
  open_gate();
  distribute_save(held(100), path("a"), waiting());
  const auto made = rows_made.load();
  EXPECT_EQ(made, 100);
  EXPECT_EQ(distribute_save(held(100), path("a") + "/", waiting()).state, "saved");
  EXPECT_EQ(rows_made, made) << "what is there is not made again";
  EXPECT_THAT(refusal(held(99), path("a"), waiting()),
              testing::AllOf(HasSubstr("already_exists"), HasSubstr("'" + path("a") + "'"),
                             HasSubstr("holds another dataset"), HasSubstr("name another folder")));
  auto packed = waiting();
  packed.compression = saved_compression::gzip;
  EXPECT_THAT(refusal(held(100), path("a"), packed),
              HasSubstr("holds this dataset with compression SNAPPY, and not GZIP"));
  dataset::range(3).save(path("plain"));
  EXPECT_THAT(refusal(held(100), path("plain"), waiting()), HasSubstr("saved by itself"));
  EXPECT_THAT(why([&] { dataset::range(3).save(path("a")); }),
              HasSubstr("the workers of a service write"));
}

TEST_F(DistributeSave, PathsOfOneFolderAreOneSave) {
  start_worker();
  distribute_save(held(10), path("a"), begun());
  EXPECT_THAT(refusal(held(9), folder.path() + "//./a", begun()),
              HasSubstr("'" + path("a") + "' is being written with another dataset"));
  open_gate();
  EXPECT_EQ(distribute_save(held(10), folder.path() + "//a/.", waiting()).elements, 10);
}

TEST_F(DistributeSave, WhatCannotBeIsRefusedWithTheReason) {
  EXPECT_THAT(refusal(dataset::range(5).repeat(), path("a"), waiting()),
              HasSubstr("the dataset never ends; take(n) of it first"));
  auto how = waiting();
  EXPECT_THAT(refusal(dataset::range(5), "", waiting()), HasSubstr("path is empty"));
  how = waiting();
  how.service = "127.0.0.1:1";
  how.worker_timeout = 100ms;
  EXPECT_THAT(refusal(dataset::range(5), path("a"), how), HasSubstr("127.0.0.1:1"));
  // The service has no worker.
  how.service = dispatcher->target();
  EXPECT_THAT(refusal(dataset::range(5), path("a"), how),
              HasSubstr("no worker has worked on saving '" + path("a") + "' for 0.1 s"));
  // A worker joins and finishes the save.
  start_worker();
  EXPECT_EQ(distribute_save(dataset::range(5), path("a"), waiting()).elements, 5);
  EXPECT_THAT(refusal(dataset::range(5), "/dev/null/a", waiting()),
              HasSubstr("cannot make the folder '/dev/null/a'"));
}

TEST_F(DistributeSave, ItIsReadWhileItIsWritten) {
  start_worker();
  auto loading = std::async(std::launch::async, [&] {
    return numbers(dataset::load(path("a"), {.wait = true, .stall_timeout = test::patience}));
  });
  distribute_save(held(100), path("a"), begun());
  EXPECT_THAT(why([&] { static_cast<void>(dataset::load(path("a"))); }),
              HasSubstr("holds no saved dataset"));
  // A second reader reads the same save through the service, although the worker's function is
  // blocked.
  const auto wait = load_options{.wait = true, .stall_timeout = test::patience};
  auto shared = std::async(std::launch::async, [&] {
    auto out = numbers(dataset::load(path("a"), wait)
                         .apply(distribute{{.processing_mode = sharding_policy::dynamic,
                                            .service = dispatcher->target()}}));
    std::ranges::sort(out);
    return out;
  });
  open_gate();
  EXPECT_EQ(loading.get(), first_numbers(100));
  EXPECT_EQ(shared.get(), first_numbers(100));
  EXPECT_EQ(distribute_save(held(100), path("a"), waiting()).state, "saved");
  // `wait` has no effect on a dataset that is complete.
  EXPECT_EQ(numbers(dataset::load(path("a"), wait)), first_numbers(100));
}

TEST_F(DistributeSave, AWaitForPiecesHasABound) {
  EXPECT_THAT(why([&] {
                static_cast<void>(
                  dataset::load(path("none"), {.wait = true, .stall_timeout = 50ms}));
              }),
              testing::AllOf(HasSubstr("deadline_exceeded"), HasSubstr("within 0.05 s")));
  start_worker();
  distribute_save(held(100), path("a"), begun());
  auto slow = dataset::load(path("a"), {.wait = true, .stall_timeout = 50ms}).iterate();
  const auto next = slow.next();
  ASSERT_FALSE(next);
  EXPECT_THAT(to_string(next.status()), testing::AllOf(HasSubstr("deadline_exceeded"),
                                                       HasSubstr("was not written within 0.05 s")));
}

TEST_F(DistributeSave, AnElementThatFailsFailsTheSaveAndWhoReadsIt) {
  start_worker();
  const auto failing = dataset::range(100).map([](expr x) { return 10 / (x - 70); });
  EXPECT_THAT(refusal(failing, path("a"), waiting()),
              testing::AllOf(HasSubstr("worker "), HasSubstr("piece "),
                             HasSubstr("integer division by zero")));
  auto reading =
    dataset::load(path("a"), {.wait = true, .stall_timeout = test::patience}).iterate();
  status how;
  int64_t read = 0;
  for (;; ++read)
    if (auto next = reading.next(); !next) {
      how = next.status();
      break;
    }
  EXPECT_LE(read, 70);
  EXPECT_THAT(to_string(how), HasSubstr("saving it ended early"));
  EXPECT_EQ(get_service_status(dispatcher->target()).value().saves.back().state, "failed");
}

TEST_F(DistributeSave, ADatasetThatCannotBeDividedIsWrittenByOneWorker) {
  for (int i = 0; i < 2; ++i) start_worker();
  const auto done = distribute_save(dataset::range(1000).take(10), path("a"), waiting());
  EXPECT_EQ(done.pieces, 1);
  EXPECT_THAT(done.whole_because, HasSubstr("take looks at more than one element"));
  EXPECT_EQ(numbers(dataset::load(path("a"))), first_numbers(10));
}

TEST_F(DistributeSave, AWorkerThatIsLostIsReplaced) {
  for (int i = 0; i < 2; ++i) start_worker();
  distribute_save(held(100), path("a"), begun());
  // Waits until both workers write a piece; then one of them ends.
  while (get_service_status(dispatcher->target()).value().saves.at(0).workers < 2) {
  }
  std::thread ends{[&] { workers[0].reset(); }};
  open_gate();
  EXPECT_EQ(distribute_save(held(100), path("a"), waiting()).elements, 100);
  ends.join();
  EXPECT_EQ(numbers(dataset::load(path("a"))), first_numbers(100));
}

TEST_F(DistributeSave, ADispatcherThatLostItsStateGoesOn) {
  start_worker();
  auto saved = std::async(std::launch::async,
                          [&] { return distribute_save(held(100), path("a"), waiting()); });
  while (!fs::exists(path("a") + "/saving.headrace")) std::this_thread::yield();
  const auto port = parse_address(dispatcher->target()).value().port;
  dispatcher.reset();
  start_dispatcher(port);
  open_gate();
  EXPECT_EQ(saved.get().elements, 100);
  EXPECT_EQ(numbers(dataset::load(path("a"))), first_numbers(100));
}

TEST_F(DistributeSave, AFailureIsMendedByAskingAgain) {
  start_worker();
  open_gate();
  distribute_save(held(100), path("a"), waiting());
  // Brings the folder into the state in which the last steps have failed.
  fs::remove(path("a") + "/dataset.headrace");
  fs::remove_all(path("a") + "/pieces/00003");
  rows_made = 0;
  EXPECT_EQ(distribute_save(held(100), path("a"), waiting()).elements, 100);
  EXPECT_LT(rows_made, 10) << "only what is missing is made";
  EXPECT_EQ(numbers(dataset::load(path("a"))), first_numbers(100));
}

TEST_F(DistributeSave, PiecesThatAreNotOfThisSaveAreRefusedWithAWayOut) {
  start_worker();
  open_gate();
  const auto pieces = path("a") + "/pieces/";
  const auto swap = [&] {
    fs::rename(pieces + "00003", pieces + "x");
    fs::rename(pieces + "00004", pieces + "00003");
    fs::rename(pieces + "x", pieces + "00004");
  };
  distribute_save(held(100), path("a"), waiting());
  fs::remove(path("a") + "/dataset.headrace");
  swap();
  EXPECT_THAT(refusal(held(100), path("a"), waiting()),
              testing::AllOf(HasSubstr("holds a piece of another save, or another piece"),
                             HasSubstr("remove '" + pieces + "00003'")));
  swap();
  for (const auto& at : fs::directory_iterator{pieces + "00005"})
    if (at.path().extension() == ".rows")
      fs::remove(at.path());
  EXPECT_THAT(refusal(held(100), path("a"), waiting()),
              testing::AllOf(HasSubstr("data_loss"), HasSubstr("remove '" + pieces + "00005'")));
  fs::remove_all(pieces + "00005");
  EXPECT_EQ(distribute_save(held(100), path("a"), waiting()).state, "saved");
  EXPECT_EQ(numbers(dataset::load(path("a"))), first_numbers(100));
}

TEST_F(DistributeSave, AClientWhoseWorkersAreBusyWithAnotherSaveWaits) {
  dispatcher.reset();
  dispatcher = std::make_unique<dispatcher_server>(
    dispatcher_server_options{.heartbeat = 50ms, .lease = 1s, .worker_max_concurrent_saves = 1});
  start_worker();
  distribute_save(held(10), path("a"), begun());
  auto how = waiting();
  how.worker_timeout = 50ms;
  auto second = std::async(std::launch::async,
                           [&] { return distribute_save(dataset::range(5), path("b"), how); });
  EXPECT_EQ(second.wait_for(500ms), std::future_status::timeout);
  open_gate();
  EXPECT_EQ(second.get().elements, 5);
}

TEST_F(DistributeSave, WhoWaitsForTheBeginningReadsThatThereWillBeNone) {
  start_worker();
  auto loading = std::async(std::launch::async, [&] {
    return why([&] {
      static_cast<void>(dataset::load(path("a"), {.wait = true, .stall_timeout = test::patience}));
    });
  });
  const auto none = dataset::list_files({path("missing*")});
  EXPECT_THAT(refusal(none, path("a"), waiting()), HasSubstr("missing"));
  EXPECT_THAT(loading.get(), testing::AnyOf(HasSubstr("saving it ended early")));
}

TEST_F(DistributeSave, ASaveByItselfThatEndsLaterIsRefused) {
  start_worker();
  auto by_itself = std::async(std::launch::async, [&] {
    const auto slow = dataset::range(100).sleep(5ms);
    return why([&] { slow.save(path("a")); });
  });
  while (!fs::exists(path("a"))) std::this_thread::yield();
  EXPECT_EQ(distribute_save(dataset::range(5), path("a"), waiting()).state, "saved");
  EXPECT_THAT(by_itself.get(), HasSubstr("the workers of a service write"));
  EXPECT_EQ(numbers(dataset::load(path("a"))), first_numbers(5));
}

TEST_F(DistributeSave, FilesAreCutWhereTheWorkerSays) {
  workers.push_back(std::make_unique<worker_server>(worker_server_options{
    .dispatcher = dispatcher->target(), .lease = 1s, .save_max_file_size = 1 << 20}));
  const auto large = dataset::range(8).map([](expr x) { return fill({1 << 17}, x); });
  auto how = waiting();
  how.compression = saved_compression::none;
  distribute_save(large.take(8), path("a"), how); // after a `take`, the save has only one piece
  size_t files = 0;
  for (const auto& at : fs::recursive_directory_iterator{path("a")})
    files += at.path().extension() == ".rows";
  EXPECT_EQ(files, 8);
  EXPECT_EQ(dataset::load(path("a")).cardinality(), 8);
}

} // namespace
} // namespace headrace::detail
