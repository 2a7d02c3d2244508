#pragma once

#include "headrace/actors/job/split_assigner.hpp"

#include <map>
#include <set>
#include <utility>
#include <vector>

namespace headrace {

/// The questions for splits of one repetition that have no answer yet, and who waits for whom.
///
/// A task at the end of a source waits while others hold unread splits of it, as these may come
/// back. Under a zip of sources that do not advance together tasks can wait for each other: one has
/// splits of the first and waits for the second, another one the reverse. Only where a task waits
/// for such tasks alone, directly or by others, is its pass over before they have read what they
/// hold. Pure.
class waiting_leases {
public:
  void add(const lease_request& question);
  void remove(const lease_request& question);
  /// Tasks that ask for more of the same source and pass: they have read all that they had of it.
  const std::set<task_id>& beside(const lease_request& question) const;

  /// Where tasks wait only for each other: one of their questions, with nobody that it need wait
  /// for. Of a source that no zip reads behind others, if there is one, as rows that are held of
  /// these would be lost. No leases: there are no such tasks.
  std::vector<split_assigner::leased_to> give_way(const split_assigner& splits,
                                                  time_point now) const;

private:
  using place = std::pair<uint32_t, uint64_t>; ///< source, pass
  static place of(const lease_request& question) { return {question.source, question.pass}; }

  std::map<place, std::vector<lease_request>> questions_;
  std::map<place, std::set<task_id>> asking_;
};

} // namespace headrace
