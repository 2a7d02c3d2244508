#include "headrace/client/command/scaling.hpp"

#include "headrace/runtime/base/clock.hpp"

#include <numeric>
#include <utility>

namespace headrace::command {

namespace {

constexpr auto interval = std::chrono::seconds{1};

std::vector<size_t> numbers(size_t count) {
  std::vector<size_t> out(count);
  std::iota(out.begin(), out.end(), size_t{0});
  return out;
}

} // namespace

scaling::scaling(local_cluster& of, uint32_t running, worker_demand::options within,
                 status_watch::question status, logger log)
  : of_(of),
    workers_(numbers(running)),
    next_(running),
    demand_(within),
    log_(std::move(log)),
    watch_(interval, std::move(status), [this](const service_status& now) { look(now); }) {}

void scaling::look(const service_status& now) {
  const auto running = static_cast<uint32_t>(workers_.size());
  if (const auto wanted = demand_.look(now, running, clock::system().now()); wanted != running)
    become(wanted);
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
