#pragma once

#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/actors/task_surroundings.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"

#include <functional>
#include <memory>

namespace headrace::detail {

/// Runs one step of a save on a thread of its own. `stop` requests that the thread end, and does
/// not wait until it has ended; see `stopping_threads`.
class save_runner {
public:
  /// Called by the thread as its last step, or by `start` if the thread cannot be started. Never
  /// called after `stop` has returned.
  using ended = std::function<void(save_report)>;

  /// `graph` is null for steps that need none; see `needs_graph`.
  save_runner(save_order what, dataset_ptr graph, task_surroundings of, uint64_t most_file_bytes);
  ~save_runner() { stop(); }
  save_runner(const save_runner&) = delete;

  /// May be called once.
  void start(ended hear);
  void stop();

private:
  struct shared;
  std::shared_ptr<shared> shared_;
};

} // namespace headrace::detail
