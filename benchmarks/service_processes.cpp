#include "benchmarks/service_processes.hpp"

namespace headrace::detail::bench {

service::service(const std::string& headrace, size_t workers,
                 const std::vector<std::string>& flags) {
  std::vector<std::string> dispatcher{headrace,       "dispatcher",  "--port", "0",
                                      "--no-restart", "--log-level", "warn"};
  dispatcher.insert(dispatcher.end(), flags.begin(), flags.end());
  dispatcher_.push_back(start(std::move(dispatcher)));
  for (size_t i = 0; i < workers; ++i)
    workers_.push_back(
      start({headrace, "worker", "--dispatcher", target_, "--no-restart", "--log-level", "warn"}));
  if (auto how = await_service_workers(target_, workers, std::chrono::seconds{30}); !how)
    throw error{how};
}

child_process service::start(std::vector<std::string> argv) {
  auto child = child_process::start({.argv = std::move(argv)}).value();
  auto line = child.read_until("listening on ", std::chrono::seconds{20}).value();
  if (target_.empty())
    target_ = line.substr(line.rfind(' ') + 1);
  return child;
}

} // namespace headrace::detail::bench
