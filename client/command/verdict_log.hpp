#pragma once

#include "headrace/client/service_status.hpp"
#include "headrace/client/verdict.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

namespace headrace::command {

/// Which verdicts are new: of each job those whose cause was the same at two looks, and is not the
/// one that was named last. Pure.
class verdict_changes {
public:
  std::vector<verdict> look(const service_status& now);

private:
  struct known {
    std::pair<slow_part, std::string> last, named;
  };
  std::map<uint64_t, known> jobs_;
};

/// Logs what bounds the rate of each job when it changes.
class verdict_log {
public:
  /// `status` may block.
  verdict_log(std::function<result<service_status>()> status, logger to);
  verdict_log(const verdict_log&) = delete;

private:
  void run(const std::stop_token& stop);

  const std::function<result<service_status>()> status_;
  const logger log_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_; ///< last: it ends before what it uses
};

} // namespace headrace::command
