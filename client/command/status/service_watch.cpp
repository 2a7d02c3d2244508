#include "headrace/client/command/status/service_watch.hpp"

#include "headrace/client/service_status.hpp"

namespace headrace::detail::command {

service_watch::service_watch(std::string dispatcher, duration every)
  : dispatcher_(std::move(dispatcher)), every_(every), last_(clock::system().now()) {
  asks_ = std::jthread{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      {
        std::unique_lock lock{mutex_};
        over_.wait_for(lock, stop, every_, [] { return false; });
      }
      if (stop.stop_requested())
        return;
      const bool answers = get_service_status(dispatcher_, std::chrono::seconds{1}).ok();
      if (answers)
        last_ = clock::system().now();
      failing_ = !answers;
    }
  }};
}

} // namespace headrace::detail::command
