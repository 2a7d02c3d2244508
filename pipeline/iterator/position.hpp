#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/iterator/choice_log.hpp"
#include "headrace/pipeline/iterator/splits_done.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace::detail {

/// One split of a source, in one of its passes.
struct split_place {
  uint32_t source = 0; ///< in depth-first order
  uint64_t pass = 0;
  uint64_t split = 0;
  friend bool operator==(const split_place&, const split_place&) = default;
};

/// The state of an operator and its inputs, after the rows that it returned. Immutable, so that
/// positions can share parts. See schemas/position.capnp for the stored form.
struct position {
  dataset_op op = dataset_op::range;
  /// The version of the operator's numbers and parts: see `operator_record::position_version`.
  uint16_t version = 1;
  /// The operator has ended: it has no further rows, and the other members are empty.
  bool ended = false;
  std::vector<uint64_t> numbers;
  std::vector<position_ptr> parts; ///< the positions of inputs and open datasets; null: not open
  /// What the operator did after the position, which follows `numbers` and `parts` when the
  /// position is stored or restored; unset if the rows after it do not depend on time.
  std::optional<choice_log::mark> later;
  /// For a source outside of functions: the split that it reads next, or is reading.
  std::optional<split_place> reads;
  /// For a source with a split provider: the splits that are done in this run. Not stored.
  std::optional<splits_done> done;
  status refused; ///< not ok: the reason why the position cannot be saved
};

/// The point from which to continue: a position, and the number of rows after it that are done.
struct resume_point {
  position_ptr at;
  uint64_t skip = 0;
};

/// For each source that has begun a split: the first split (in the order of reading) that a
/// restored iterator would read again, because rows of it or of later splits may be held. It is
/// never later than the split of the oldest held row, and less than a block earlier.
std::vector<split_place> oldest_splits_held(const position& of);

/// The splits of which an iterator that is restored there would read nothing, for each source for
/// which they can be determined. Sources that have ended before others, or have not begun, are left
/// out. nullopt: the position cannot be saved.
std::optional<std::vector<splits_done>> splits_done_at(const position& at);

} // namespace headrace::detail
