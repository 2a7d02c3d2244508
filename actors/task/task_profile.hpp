#pragma once

#include "headrace/pipeline/explain/operator_activity.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The activity of the operators of a task's pipeline, for the status. Thread-safe: the runner's
/// thread begins and ends it, and the worker reads it with each heartbeat.
class task_profile {
public:
  /// The most operators that are reported. Operators that were blocked least by their output are
  /// preferred.
  static constexpr size_t most_operators = 64;

  /// A pipeline whose operators have these counters begins to run.
  void began(std::shared_ptr<const operator_table> of) {
    std::lock_guard lock{mutex_};
    window_.emplace(*of);
    table_ = std::move(of);
  }
  void ended() {
    std::lock_guard lock{mutex_};
    window_.reset();
    table_.reset();
  }
  /// The activity in the last seconds (`operator_window`). Empty while no pipeline runs, and at the
  /// first call for a pipeline.
  std::vector<operator_activity> look(time_point now) {
    std::lock_guard lock{mutex_};
    return window_ ? some_of(window_->look(now)) : std::vector<operator_activity>{};
  }

private:
  static std::vector<operator_activity> some_of(std::vector<operator_activity> all) {
    if (all.size() <= most_operators)
      return all;
    std::vector<double> outputs;
    for (const auto& x : all) outputs.push_back(x.shares.output);
    std::ranges::nth_element(outputs, outputs.begin() + most_operators);
    const auto most = outputs[most_operators];
    std::erase_if(all, [&](const auto& x) { return x.shares.output > most; });
    all.resize(std::min(all.size(), most_operators));
    return all;
  }

  std::mutex mutex_;
  std::shared_ptr<const operator_table> table_;
  std::optional<operator_window> window_;
};

} // namespace headrace::detail
