#pragma once

#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Decides which steps of saves a worker works on, and what it reports about them. Pure. One
/// question at a time is sent to the dispatcher; lost questions and reports are repeated.
class save_work {
public:
  /// The dispatcher has announced that there are steps.
  void offered() { asks_ = true; }
  /// The worker has registered, with this dispatcher or another one. The answer to the last
  /// question, with steps in it, may be lost: then a new question is due.
  void registered() { asks_ = std::exchange(waits_, false) || asks_ || !running_.empty(); }
  /// A step has ended. The report of a step that was stopped before is ignored.
  void ended(save_report how);
  /// The worker takes no more steps and gives back those that it works on. Returns the saves whose
  /// steps must be stopped.
  std::vector<save_id> leave();

  /// The question to send now; nullopt: none is needed, or one is not answered yet.
  std::optional<save_question> question();

  struct decided {
    std::vector<save_order> begin;
    std::vector<save_id> stop;
  };
  /// The answer to the question. A failure: there was no answer.
  decided answered(const result<save_steps>& what);
  /// Called when a heartbeat was answered: a question that failed is repeated.
  void again() { asks_ = asks_ || failed_; }

  bool works_on(save_id id, uint64_t number) const {
    const auto at = running_.find(id);
    return at != running_.end() && at->second == number;
  }

private:
  bool leaves_ = false;
  bool asks_ = false; ///< a question for steps is due
  /// A question was sent to the dispatcher and is not answered yet.
  bool waits_ = false;
  bool failed_ = false;                 ///< the last question was not answered
  std::map<save_id, uint64_t> running_; ///< the steps by save, with the numbers of their orders
  std::vector<save_report> reports_;    ///< reports that the dispatcher has not acknowledged yet
  size_t said_ = 0;                     ///< the number of reports in the present question
};

} // namespace headrace::detail
