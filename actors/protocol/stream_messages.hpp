#pragma once

#include "headrace/actors/protocol/task_outcome.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/trainer_cache.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <variant>

namespace headrace::detail {

class block_forms;

/// Messages between a consumer and a task on one stream, as plain structs. The elements of a stream
/// are numbered from zero without gaps. Messages contain totals and states, so that a repeated
/// message does no harm.

// -- from the consumer ----------------------------------------------------------------

/// The first message of a stream. It is sent again after the link was lost.
struct stream_open {
  task_id task;
  incarnation life;
  consumer_id consumer;
  /// The number of elements that the consumer has received: the stream continues after these.
  uint64_t received = 0;
  uint64_t handed_out = 0; ///< the number of elements that its trainer was handed
  compression packing = compression::automatic;
  uint64_t node = 0;        ///< the id of the consumer's node; from the link, not in the message
  std::string trainer = {}; ///< in a job with a cross-trainer cache: the id of its trainer
  cache_start start = cache_start::oldest;
  uint32_t index = 0; ///< in coordinated reads: the consumer's seat
};

/// The number of elements that were handed out, and how many elements and bytes may be sent.
struct stream_grant {
  uint64_t handed_out = 0; ///< the task drops these elements
  uint64_t elements = 0;   ///< the total number of elements that may be sent
  /// The number of bytes that may be sent and not handed out; one element may always be sent.
  uint64_t bytes = 0;
  bool waiting = false; ///< the trainer is blocked in `next`, and no stream has anything for it
  /// The number of elements that the consumer has received. Set in each grant once the task leaves,
  /// and in coordinated reads; otherwise it may be zero.
  uint64_t received = 0;
  /// The elements below this number are claimed. Used only if the stream's blocks have `claimed`.
  uint64_t claimed = 0;
  uint64_t epoch = 0; ///< in coordinated reads: the newest epoch that the consumer takes part in
  /// The number of elements that the trainer has taken. Those of them that are not counted in
  /// `handed_out` are in use.
  uint64_t taken = 0;
};

/// The answer to a recall: elements below `mark` stay with the consumer, the others are given back.
struct stream_recalled {
  uint64_t id = 0;
  uint64_t mark = 0;
};

/// The consumer leaves.
struct stream_close {};

using from_consumer = std::variant<stream_open, stream_grant, stream_recalled, stream_close>;

// -- from the task --------------------------------------------------------------------

struct stream_block {
  uint64_t first = 0; ///< the number of elements of this stream before the block
  block rows;
  /// Total of elements that left the window before this trainer was handed them.
  uint64_t skipped = 0;
  /// The written forms of these rows; null if the rows are sent on no other stream. This member is
  /// not part of the message.
  std::shared_ptr<block_forms> forms = {};
  /// The trainer may be handed the elements below this number; later ones only after they are
  /// claimed and confirmed. Zero: the stream has no claims.
  uint64_t claimed = 0;
};

/// The confirmation of a claim, if no block contains it: the trainer may be handed the elements
/// below this number. If the consumer is lost, these go to no other reader.
struct stream_claimed {
  uint64_t elements = 0;
};

/// The consumer is to give back the elements that its trainer was not handed, except the first
/// `keep` of them.
struct stream_recall {
  uint64_t id = 0;
  uint64_t keep = 0;
};

/// The stream ends after this many elements. The sources were read to their end only if all tasks
/// end with `exhausted`.
struct stream_end {
  uint64_t elements = 0;
  task_outcome outcome = task_outcome::exhausted;
};

/// The stream is refused or cannot continue.
struct stream_failed {
  status why;
};

/// The answer to `stream_open`: the consumer is one of the task's readers, and the task keeps the
/// rows of this stream for it.
struct stream_opened {};

/// The task's worker leaves: as far as grants allow, the task sends the elements of the splits that
/// it has begun, and no others.
struct stream_leaving {};

/// In coordinated reads: all consumers take part in that epoch, and have received this many
/// elements of their streams. Until the next such message or epoch, none of them hands out more.
struct stream_received_by_all {
  uint64_t epoch = 0;
  uint64_t elements = 0;
};

using from_task =
  std::variant<stream_opened, stream_block, stream_recall, stream_end, stream_failed,
               stream_leaving, stream_claimed, stream_received_by_all>;

} // namespace headrace::detail
