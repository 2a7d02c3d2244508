#include "headrace/client/command/servers/scaling.hpp"

#include "headrace/runtime/base/clock.hpp"

#include <numeric>
#include <utility>

namespace headrace::detail::command {

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
  : of_(of), workers_(numbers(running)), next_(running), demand_(within), log_(std::move(log)) {
  watch_.emplace(interval, std::move(status), [this](const service_status& now) { look(now); });
}

scaling::~scaling() {
  watch_.reset();
  of_.end_at_once();
}

void scaling::look(const service_status& now) {
  std::erase_if(leaving_, [](const auto& x) {
    return x.wait_for(std::chrono::seconds{0}) == std::future_status::ready;
  });
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
  for (; workers_.size() > wanted; workers_.pop_back())
    leaving_.push_back(
      std::async(std::launch::async, [this, last = workers_.back()] { of_.stop_worker(last); }));
}

} // namespace headrace::detail::command
