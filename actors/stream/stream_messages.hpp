#pragma once

#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <cstdint>
#include <limits>
#include <memory>
#include <variant>

/// What a task and a consumer say to each other over their stream, as plain structs.
///
/// A stream numbers two things. `seq` counts its data messages: 0, 1, 2 ... without gaps. A
/// *position* counts its elements: 0, 1, 2 ...; a recall or a new opening sets both back to where
/// the consumer says it stands. The messages of one opening must arrive in the order they were
/// sent; after a lost connection the consumer opens again under another `opening` number, and
/// whatever still comes from the old one is dropped by both sides.
namespace headrace::stream {

/// Credit in elements or bytes that never runs out.
inline constexpr uint64_t unlimited = std::numeric_limits<uint64_t>::max();

/// Credit: how much of what was sent may be not yet handed out. Absolute, so that a repeated or
/// lost grant does no harm. One element may always go when nothing is outstanding and `elements`
/// is not zero, whatever its bytes.
struct window {
  uint64_t elements = 0;
  uint64_t bytes = 0;
  friend bool operator==(const window&, const window&) = default;
};

// -- consumer to task ---------------------------------------------------------

/// How the consumer stands: acknowledgement, grant and hunger in one. Of two the one with the
/// higher `number` holds.
struct report {
  uint64_t opening = 0;
  uint64_t number = 0;     ///< 1, 2, 3 ... within an opening
  uint64_t handed_out = 0; ///< positions below it left the `distribute` iterator
  window credit;
  bool waiting = false; ///< the trainer is blocked because no stream has anything for it
};

/// Opens the stream, or opens it again after a lost connection or a new life of the task.
struct open {
  task_id task;
  incarnation life; ///< of the task
  uint64_t opening = 0;  ///< unique among all openings of this consumer, ascending
  uint64_t next_seq = 0; ///< the first data message that is missing
  uint64_t received = 0; ///< the first position that is missing
  report state;
};

/// Answers `recall`: elements at and above `mark` were not handed out and will not be.
struct recalled {
  uint64_t opening = 0;
  uint64_t number = 0;     ///< of the recall
  uint64_t mark = 0;       ///< a position
  uint64_t handed_out = 0; ///< `<= mark`
};

/// The consumer leaves for good; what is above `handed_out` was not handed out.
struct close {
  uint64_t opening = 0;
  uint64_t handed_out = 0;
};

using to_task = std::variant<open, report, recalled, close>;

// -- task to consumer ---------------------------------------------------------

/// The task does not know this stream's past (it lives anew, or gave this consumer up): whatever
/// the consumer holds of it and has not handed out belongs to others by now. The consumer drops
/// that and opens afresh, at zero.
struct refused {
  uint64_t opening = 0;
};

/// Consecutive elements.
struct data {
  uint64_t opening = 0;
  uint64_t seq = 0;
  uint64_t first = 0; ///< position of the first row
  uint64_t index = 0; ///< the first row's index in the task's output
  std::shared_ptr<const block> rows;
};

/// Others starve: give back half of what was not handed out, or all of it.
struct recall {
  uint64_t opening = 0;
  uint64_t number = 0;
  bool all = false;
};

/// Answers a report that lowered the credit: no later message uses more than that report granted.
struct settled {
  uint64_t opening = 0;
  uint64_t number = 0; ///< of the report
};

/// The task's sources are exhausted and nothing un-handed remains anywhere.
struct end {
  uint64_t opening = 0;
  status why; ///< ok, or what the task failed of
};

using to_consumer = std::variant<refused, data, recall, settled, end>;

} // namespace headrace::stream
