#include "headrace/client/command/scaling.hpp"

#include "headrace/runtime/base/clock.hpp"

namespace headrace::command {

namespace {

constexpr auto interval = std::chrono::seconds{1};

} // namespace

scaling::scaling(local_cluster& of, uint32_t running, worker_demand::options within,
                 std::function<result<service_status>()> status, logger log)
  : of_(of), next_(running), demand_(within), status_(std::move(status)), log_(std::move(log)) {
  for (size_t i = 0; i < running; ++i) workers_.push_back(i);
  thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
}

scaling::~scaling() = default;

void scaling::run(const std::stop_token& stop) {
  std::unique_lock lock{mutex_};
  while (!changed_.wait_for(lock, stop, interval, [] { return false; }) && !stop.stop_requested()) {
    const auto now = status_();
    if (!now)
      continue;
    const auto running = static_cast<uint32_t>(workers_.size());
    if (const auto wanted = demand_.look(*now, running, clock::system().now()); wanted != running)
      become(wanted);
  }
}

void scaling::become(uint32_t wanted) {
  log_.info("the number of workers changes", {{"from", workers_.size()}, {"to", wanted}});
  try {
    for (; workers_.size() < wanted; ++next_) {
      of_.add_worker();
      workers_.push_back(next_);
    }
  } catch (const error& why) {
    log_.error("a worker was not started", {{"why", why.why()}});
  }
  for (; workers_.size() > wanted; workers_.pop_back()) of_.stop_worker(workers_.back());
}

} // namespace headrace::command
