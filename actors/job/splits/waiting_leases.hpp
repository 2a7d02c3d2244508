#pragma once

#include "headrace/actors/job/splits/split_assigner.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace headrace::detail {

/// The unanswered questions for splits of one repetition, and which tasks wait for which.
///
/// A task at the end of a source waits while other tasks hold unread splits of it, as these may be
/// given back. Under a zip of sources that do not advance together, tasks can wait for each other:
/// one has splits of the first source and waits for the second, another one has splits of the
/// second and waits for the first. If a task waits only for tasks that wait for each other in this
/// way, its pass is ended although these tasks hold unread splits of it. Pure.
class waiting_leases {
public:
  void add(const lease_request& question);
  void remove(const lease_request& question);
  /// The tasks that have sent questions about the same source and pass: they have read all splits
  /// that they were leased of that pass.
  const std::set<task_id>& beside(const lease_request& question) const;

  /// If tasks wait only for each other: the answer to one of their questions, without regard to the
  /// unread splits of these tasks. Empty: no tasks wait only for each other. Questions about the
  /// sources with the lowest `read_behind` are chosen first: a zip holds rows of that number of
  /// other inputs, and loses them when the pass of the source ends.
  std::vector<split_assigner::leased_to> give_way(const split_assigner& splits,
                                                  time_point now) const;

private:
  using place = std::pair<uint32_t, uint64_t>; ///< source, pass
  static place of(const lease_request& question) { return {question.source, question.pass}; }

  std::map<place, std::vector<lease_request>> questions_;
  std::map<place, std::set<task_id>> asking_;
};

} // namespace headrace::detail
