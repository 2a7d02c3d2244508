#pragma once

#include "benchmarks/temporary_folder.hpp"

#include <headrace/headrace.hpp>
#include <headrace/runtime/process/child_process.hpp>

#include <memory>
#include <string>
#include <vector>

namespace headrace::detail::bench {

/// A dispatcher and workers in processes of their own, on loopback. Throws `error` if they do not
/// start.
class service {
public:
  /// `flags`: further flags of the dispatcher.
  service(const std::string& headrace, size_t workers, const std::vector<std::string>& flags = {});

  const std::string& target() const { return target_; }
  int dispatcher_pid() const { return dispatcher_.front().pid(); }
  int worker_pid() const { return workers_.front().pid(); }
  distribute reads(sharding_policy mode, std::string job = {}) const {
    return distribute{{.processing_mode = mode, .service = target_, .job_name = std::move(job)}};
  }

private:
  child_process start(std::vector<std::string> argv);

  std::string target_;
  std::vector<child_process> dispatcher_;
  std::vector<child_process> workers_;
};

/// The services that cases share. Each is started when the first case requests it.
class services {
public:
  explicit services(std::string headrace) : headrace_(std::move(headrace)) {}
  const std::string& headrace() const { return headrace_; }
  service& one() { return start(one_, 1); }
  service& two() { return start(two_, 2); }
  /// Four workers, and a dispatcher that keeps its state in a temporary folder.
  service& durable() {
    if (!durable_)
      durable_ = std::make_unique<service>(headrace_, 4,
                                           std::vector<std::string>{"--work-dir", folder_.path()});
    return *durable_;
  }

private:
  service& start(std::unique_ptr<service>& which, size_t workers) {
    if (!which)
      which = std::make_unique<service>(headrace_, workers);
    return *which;
  }
  std::string headrace_;
  temporary_folder folder_;
  std::unique_ptr<service> one_, two_, durable_;
};

} // namespace headrace::detail::bench
