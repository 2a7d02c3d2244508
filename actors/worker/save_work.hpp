#pragma once

#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace headrace {

/// Decides which steps of saves a worker works on, and what it reports about them. Pure. One
/// question is with the dispatcher at a time; lost questions and reports are repeated.
class save_work {
public:
  /// The dispatcher has announced that there are steps.
  void offered() { asks_ = true; }
  /// The worker has registered, at this dispatcher or another one. The answer to the last question
  /// may be lost, with steps that it contained.
  void registered() { asks_ = std::exchange(waits_, false) || asks_ || !running_.empty(); }
  /// A step has ended; not called for one that was stopped.
  void ended(save_report how);
  /// The worker takes no more steps and gives back those that it works on. Returns the saves whose
  /// steps must be stopped.
  std::vector<save_id> leave();

  /// The question to send now; nullopt: none is needed, or one is with the dispatcher.
  std::optional<save_question> question();

  struct decided {
    std::vector<save_order> begin;
    std::vector<save_id> stop;
  };
  /// The answer to the question; a failure: there was none.
  decided answered(const result<save_steps>& what);
  /// A heartbeat was sent: a question that was not answered is repeated.
  void again() { asks_ = asks_ || failed_; }

  bool works_on(save_id id, uint64_t number) const {
    const auto at = running_.find(id);
    return at != running_.end() && at->second == number;
  }

private:
  bool leaves_ = false;
  bool asks_ = false;                   ///< a question for steps is due
  bool waits_ = false;                  ///< a question is with the dispatcher
  bool failed_ = false;                 ///< the last question was not answered
  std::map<save_id, uint64_t> running_; ///< with the numbers of the orders
  std::vector<save_report> reports_;    ///< not acknowledged yet
  size_t said_ = 0;                     ///< how many of them are in the present question
};

} // namespace headrace
