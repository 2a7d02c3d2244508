#pragma once

#include "headrace/actors/messages.hpp"
#include "headrace/runtime/link/link.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace headrace::detail {

/// Passes the messages that arrive on a worker's links to the worker's tasks. Links call it on
/// their I/O threads, and the worker actor adds and removes tasks; all members are thread-safe.
///
/// A channel belongs to the task that its `open` names, until the consumer has closed it or the
/// task has ended. On a free channel, an `open` for an unknown task, and bytes that are not a
/// message, are answered with a failure. Other messages on a free channel have arrived too late,
/// and are dropped.
class stream_router : public std::enable_shared_from_this<stream_router> {
public:
  /// The most open channels of one link; a further `open` is answered with a failure.
  static constexpr size_t most_channels = size_t{1} << 16;

  /// Serves a consumer's link until it is closed.
  void serve(const std::shared_ptr<link>& peer);
  /// An actor runs the task. Streams that were open when an earlier actor crashed are sent a
  /// failure, because that actor may have missed messages; their consumers open them again.
  void add(task_id id, task_handle task);
  void remove(task_id id);
  /// The task's actor crashed, and another one may follow.
  void crashed(task_id id);
  /// The task; null if there is none.
  task_handle task(task_id id);

private:
  struct route {
    task_id id;
    task_handle task;
    std::weak_ptr<link> over;
  };
  struct channel {
    std::weak_ptr<link> over;
    uint32_t number = 0;
  };
  /// Removes the task, and returns the channels that belonged to it. @pre the mutex is locked
  std::vector<channel> take_channels(task_id id);
  void arrived(const std::shared_ptr<link>& from, link_message what);
  void closed(const std::shared_ptr<link>& from);
  task_handle find(const std::shared_ptr<link>& from, const link_message& what, status& why);

  std::mutex mutex_;
  std::map<task_id, task_handle> tasks_;
  std::map<const link*, std::map<uint32_t, route>> routes_; ///< by link and channel
  std::map<task_id, std::vector<channel>> cut_off_;         ///< of tasks whose actor crashed
};

} // namespace headrace::detail
