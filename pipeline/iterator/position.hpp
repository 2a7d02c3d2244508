#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/iterator/choice_log.hpp"
#include "headrace/pipeline/iterator/splits_done.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail {

/// The state of an operator and its inputs after the rows that the operator returned. Immutable, so
/// that positions can share parts. See schemas/position.capnp for the stored form.
struct position {
  dataset_op op = dataset_op::range;
  /// The version of the operator's numbers and parts: see `operator_record::position_version`.
  uint16_t version = 1;
  /// The operator has ended: it has no further rows, and the members below are empty.
  bool ended = false;
  std::vector<uint64_t> numbers;
  std::vector<position_ptr> parts; ///< the positions of inputs and open datasets; null: not open
  /// A mark in the log of the operator's choices. When the position is stored or restored, the
  /// choices after the mark are appended to `numbers` and `parts`. Unset if the rows after the
  /// position do not depend on time.
  std::optional<choice_log::mark> later;
  /// For a source with a split provider: the splits that are done in this run. Not stored.
  std::optional<splits_done> done;
  status refused; ///< not ok: the reason why the position cannot be saved
};

/// The point from which to continue: a position, and the number of rows after the position that
/// must be read and dropped.
struct resume_point {
  position_ptr at;
  uint64_t skip = 0;
};

/// For each source: the splits of which an iterator that is restored from `at` reads nothing.
/// Sources that have not begun or have ended are left out, and so are sources for which these
/// splits cannot be determined. nullopt: the position cannot be saved.
std::optional<std::vector<splits_done>> splits_done_at(const position& at);

} // namespace headrace::detail
