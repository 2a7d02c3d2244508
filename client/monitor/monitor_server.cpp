#include "headrace/client/monitor/monitor_server.hpp"

#include "headrace/client/monitor/page.hpp"
#include "headrace/client/monitor/service_metrics.hpp"
#include "headrace/client/monitor/status_json.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <fmt/format.h>
#include <mutex>
#include <optional>

namespace headrace::detail::monitor {

namespace {

constexpr auto least_pause = std::chrono::milliseconds{250};

/// Answers requests; two threads may call it.
class monitor {
public:
  explicit monitor(monitored what) : what_(std::move(what)) {}

  web_answer answer(std::string_view path) {
    if (path == "/live")
      return text(200, "live");
    if (path == "/ready")
      return ready();
    if (path == "/metrics")
      return metrics();
    if (!what_.status)
      return path == "/"
               ? text(200, "This is a worker: it has /metrics, /live and /ready. The page "
                           "of the service is at its dispatcher.")
               : not_found(path);
    if (path == "/api/status.json")
      return with_status([](const service_status& x) {
        return web_answer{200, "application/json", status_json(x) + "\n"};
      });
    if (const auto* file = page_file(path))
      return {200, std::string{file->type}, std::string{file->content}};
    return not_found(path);
  }

private:
  static web_answer text(unsigned code, std::string what) {
    return {code, "text/plain; charset=utf-8", std::move(what) + "\n"};
  }
  web_answer not_found(std::string_view path) const {
    return text(404, fmt::format("there is no {} here; there are {}", path,
                                 what_.status ? "/, /metrics, /live, /ready and /api/status.json"
                                              : "/, /metrics, /live and /ready"));
  }

  web_answer ready() {
    if (what_.status)
      return with_status([](const service_status&) { return text(200, "ready"); });
    const auto how = what_.ready ? what_.ready() : headrace::status{};
    return how.ok() ? text(200, "ready") : text(503, how.message());
  }

  web_answer metrics() {
    const auto show = [](const metric_families& all) {
      return web_answer{200, std::string{open_metrics_type}, open_metrics_text(all)};
    };
    if (!what_.status)
      return show(what_.metrics());
    return with_status([&](const service_status& x) { return show(metrics_of(x)); });
  }

  template <class F>
  web_answer with_status(F&& f) {
    std::lock_guard lock{mutex_};
    const auto now = clock::system().now();
    if (!known_ || now - asked_at_ >= least_pause) {
      known_.emplace(what_.status());
      asked_at_ = clock::system().now();
    }
    return *known_ ? f(**known_) : text(503, known_->status().message());
  }

  const monitored what_;
  std::mutex mutex_;
  std::optional<result<service_status>> known_;
  time_point asked_at_;
};

} // namespace

result<std::unique_ptr<web_server>> start_monitor(const web_options& options, monitored what) {
  auto answers = std::make_shared<monitor>(std::move(what));
  return web_server::start(options,
                           [answers](std::string_view path) { return answers->answer(path); });
}

} // namespace headrace::detail::monitor
