#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/iterator/splits_done.hpp"
#include "headrace/runtime/base/result.hpp"

namespace headrace {

struct position;
using position_ptr = std::shared_ptr<const position>;

/// A split of a source, in one of its passes.
struct split_place {
  uint32_t source = 0; ///< in depth-first order
  uint64_t pass = 0;
  uint64_t split = 0;
  friend bool operator==(const split_place&, const split_place&) = default;
};

/// Where an operator and all below it stand, after the rows that it gave. Immutable, so that
/// positions share what they have in common. See schemas/position.capnp for the stored form.
struct position {
  dataset_op op = dataset_op::range;
  /// Of what the operator says below: see `operator_record::position_version`.
  uint16_t version = 1;
  bool ended = false; ///< nothing comes any more, and nothing else is said
  std::vector<uint64_t> numbers;
  std::vector<position_ptr> parts; ///< of inputs and open datasets; null: not open
  /// What a source outside of functions reads next; it may be in the middle of it.
  std::optional<split_place> reads;
  /// What a source that is given its splits is done with, as it stands here. Not stored.
  std::optional<splits_done> done;
  status refused; ///< not ok: why the position cannot be saved
};

/// Where to begin again: a position, and how many rows after it were done with.
struct resume_point {
  position_ptr at;
  uint64_t skip = 0;
};

/// For each source that has splits at hand, the first one (in the order of reading) that a restored
/// iterator reads again: rows of it, or later ones, may be held and not given yet. Never a later
/// one than the oldest that is held; an earlier one by less than a block.
std::vector<split_place> oldest_splits_held(const position& of);

/// What an iterator that is restored there reads nothing of, for each source where that is known:
/// not of one that has ended while others are read, nor of one that is not begun. nullopt: the
/// position cannot be saved.
std::optional<std::vector<splits_done>> splits_done_at(const position& at);

} // namespace headrace
