#include "headrace/client/command/run/drain_workers.hpp"

#include "headrace/client/command/run/run_notices.hpp"
#include "headrace/client/drain_worker.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <atomic>
#include <stop_token>
#include <thread>
#include <vector>

namespace headrace::detail::command {

void drain_workers(run_process& self, const std::function<bool(const worker_status&)>& which) {
  const auto now = get_service_status(self.local, std::chrono::seconds{5});
  if (!now)
    return say("the workers are not drained: " + now.status().message());
  std::stop_source stop;
  std::atomic<bool> drained = false;
  std::vector<std::jthread> calls;
  for (const auto& x : now->workers)
    if (x.alive && which(x))
      calls.emplace_back([&self, &stop, address = x.address] {
        if (const auto how =
              drain_worker(self.local, address,
                           {.timeout = self.options.drain_timeout, .stop = stop.get_token()});
            !how && how.status().code() != status_code::cancelled)
          say(how.status().message());
      });
  std::jthread all{[&] {
    for (auto& x : calls) x.join();
    calls.clear();
    drained = true;
  }};
  (void)self.servers.wait(clock::system().now() + self.options.drain_timeout
                            + std::chrono::seconds{1},
                          [&]() -> result<bool> { return drained.load(); });
  stop.request_stop();
}

} // namespace headrace::detail::command
