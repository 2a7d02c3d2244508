#pragma once

#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/runtime/base/result.hpp"

#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace headrace {

/// A worker's part in saves: which steps it works on, and what it has to say of them. Pure. One
/// question is with the dispatcher at a time; what is lost on the way is said again.
class save_work {
public:
  /// The dispatcher has steps.
  void offered() { asks_ = true; }
  /// The dispatcher is another one, or it is there again. The answer to a question may be lost,
  /// with steps that it gave.
  void registered() { asks_ = std::exchange(waits_, false) || asks_ || !running_.empty(); }
  /// A step is over; not one that was stopped.
  void ended(save_report how);
  /// The worker takes no more steps. What it works on, to be stopped, goes back.
  std::vector<save_id> leave();

  /// What to ask now; nullopt: nothing, or a question is with the dispatcher.
  std::optional<save_question> question();

  struct decided {
    std::vector<save_order> begin;
    std::vector<save_id> stop;
  };
  /// The answer to the question, or why there is none.
  decided answered(const result<save_steps>& what);
  /// A heartbeat has gone: what was not answered is asked again.
  void again() { asks_ = asks_ || failed_; }

  bool works_on(save_id id, uint64_t number) const {
    const auto at = running_.find(id);
    return at != running_.end() && at->second == number;
  }

private:
  bool leaves_ = false;
  bool asks_ = false;                   ///< for steps
  bool waits_ = false;                  ///< for the answer
  bool failed_ = false;                 ///< there was none
  std::map<save_id, uint64_t> running_; ///< the orders' numbers
  std::vector<save_report> reports_;    ///< not answered yet
  size_t said_ = 0;                     ///< of them, those in the question
};

} // namespace headrace
