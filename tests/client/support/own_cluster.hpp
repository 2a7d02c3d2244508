#pragma once

#include "headrace/actors/node/roles.hpp"
#include "headrace/client/headrace.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "tests/support/patience.hpp"

#include <algorithm>
#include <condition_variable>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// Actors of one kind, recorded as they start, so that a test can kill them. Thread-safe.
class lives {
public:
  /// The function to be called with each actor that starts.
  auto listener() {
    return [this](const caf::actor& who) {
      std::lock_guard lock{mutex_};
      all_.push_back(who);
      changed_.notify_all();
    };
  }
  void kill_all() {
    std::lock_guard lock{mutex_};
    for (const auto& who : std::exchange(all_, {})) kill(who);
  }
  /// Waits for the next actor that `next` has not returned yet; null after `close`.
  caf::actor next() {
    std::unique_lock lock{mutex_};
    changed_.wait(lock, [&] { return closed_ || !all_.empty(); });
    if (closed_)
      return {};
    auto out = all_.front();
    all_.erase(all_.begin());
    return out;
  }
  void close() {
    std::lock_guard lock{mutex_};
    closed_ = true;
    all_.clear();
    changed_.notify_all();
  }
  static void kill(const caf::actor& who) { port::ask_to_exit(who, caf::exit_reason::kill); }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<caf::actor> all_;
  bool closed_ = false;
};

/// A worker in this process whose graphs may call the test's functions.
class test_worker {
public:
  lives actors;
  std::shared_ptr<stream_router> router = std::make_shared<stream_router>();

  explicit test_worker(const std::string& dispatcher, worker_options options = {},
                       role_failed failed = {})
    : here_(service_node(node_role::worker)) {
    auto how =
      here_.listen_data([router = router](std::shared_ptr<link> peer) { router->serve(peer); });
    if (!how)
      throw error{how};
    options.data_address = here_.data_address();
    options.on_start = actors.listener();
    start_worker(here_, options, parse_address(dispatcher).value(), router, {}, std::move(failed));
  }
  ~test_worker() { actors.close(); }
  node& here() noexcept { return here_; }

private:
  node here_;
};

/// A dispatcher in this process.
class test_dispatcher {
public:
  lives actors; ///< the lives of the dispatcher's own actor
  lives jobs;

  explicit test_dispatcher(
    dispatcher_options options = {}, role_failed failed = {},
    const std::shared_ptr<dispatcher_stores>& stores = std::make_shared<dispatcher_stores>())
    : here_(service_node(node_role::dispatcher)) {
    options.timing.heartbeat = std::chrono::milliseconds{20};
    options.on_start = actors.listener();
    options.on_job = jobs.listener();
    auto published = listen(here_, start_dispatcher(here_, options, {}, std::move(failed), stores));
    if (!published)
      throw error{published.status()};
  }
  ~test_dispatcher() {
    actors.close();
    jobs.close();
  }
  std::string target() const { return here_.actor_address(); }
  void await_workers(size_t count) const {
    if (auto how = await_service_workers(target(), count, patience); !how)
      throw error{how};
  }
  /// Requests the status until it satisfies `good`; fails if it does not within `patience`.
  template <class Good>
  ::testing::AssertionResult shows(Good&& good) const {
    const auto end = clock::system().now() + patience;
    while (clock::system().now() < end) {
      auto now = get_service_status(target(), patience);
      if (now && good(*now))
        return ::testing::AssertionSuccess();
    }
    return ::testing::AssertionFailure() << "not in the status";
  }

private:
  node here_;
};

/// range(n), mapped with the worker's function `f`.
inline dataset through_f(int64_t n) {
  auto body = std::make_shared<function>();
  body->named = {"f"};
  auto numbers = make_range(0, n, 1).value();
  body->argument = body->declared = numbers->spec;
  return dataset{make_map(numbers, body).value()};
}

inline worker_options with_function(named_function f) {
  worker_options options;
  options.tasks.find_function = [f = std::move(f)](const function_reference&) { return f; };
  return options;
}

inline void add_all(std::vector<int64_t>& to, const block& rows) {
  EXPECT_TRUE(rows.errors.empty()) << to_string(*rows.error_at(rows.errors[0].row));
  const auto& values = rows.columns.at(0);
  const auto all =
    values.values<int64_t>().subspan(static_cast<size_t>(values.first_value(0)), rows.rows);
  to.insert(to.end(), all.begin(), all.end());
}

inline std::vector<int64_t> sorted(std::vector<int64_t> x) {
  std::sort(x.begin(), x.end());
  return x;
}

/// True if a node of the tree, at any depth, has a name that begins with `name`, and `good` holds.
template <class Good>
bool find_in(const std::vector<supervised>& tree, const std::string& name, const Good& good) {
  return std::any_of(tree.begin(), tree.end(), [&](const supervised& x) {
    return (x.name.starts_with(name) && good(x)) || find_in(x.children, name, good);
  });
}

} // namespace headrace::detail::test
