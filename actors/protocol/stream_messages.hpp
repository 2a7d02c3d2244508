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

namespace headrace {

class block_forms;

/// What a consumer and a task say to each other on one stream, as plain structs. Elements are
/// numbered per stream from zero without gaps; totals and states, so that a message that comes
/// twice does no harm.

// -- from the consumer ----------------------------------------------------------------

/// First on the stream; again after the link was lost.
struct stream_open {
  task_id task;
  incarnation life;
  consumer_id consumer;
  uint64_t received = 0;   ///< elements that the consumer has got: the stream goes on after these
  uint64_t handed_out = 0; ///< elements that its trainer has been given
  compression packing = compression::automatic;
  uint64_t node = 0;        ///< of the link that it came over; not part of the message
  std::string trainer = {}; ///< of a job with a cross-trainer cache: whose elements these are
  cache_start start = cache_start::oldest;
  uint32_t index = 0; ///< of a job with coordinated reads: which element of each round is its own
};

/// How far the trainer is, and how much may be sent.
struct stream_grant {
  uint64_t handed_out = 0; ///< the task forgets these
  uint64_t elements = 0;   ///< may be sent up to this element of the stream
  uint64_t bytes = 0;      ///< and no more bytes than this not handed out; one element always
  bool waiting = false;    ///< the trainer is blocked: no stream has anything for it
  /// Said for each block once the task leaves, and in coordinated reads; else it may be zero.
  uint64_t received = 0;
  /// The trainer may take up to this element soon. Of a stream whose blocks say `claimed`.
  uint64_t claimed = 0;
  uint64_t epoch = 0; ///< of coordinated reads: the newest that the consumer takes part in
};

/// The answer to a recall: elements up to `mark` stay with the consumer, the others come back.
struct stream_recalled {
  uint64_t id = 0;
  uint64_t mark = 0;
};

/// The consumer leaves.
struct stream_close {};

using from_consumer = std::variant<stream_open, stream_grant, stream_recalled, stream_close>;

// -- from the task --------------------------------------------------------------------

struct stream_block {
  uint64_t first = 0; ///< elements of this stream before it
  block rows;
  uint64_t skipped = 0; ///< elements that this trainer was too slow for, up to here
  /// What others are sent of the same rows, as it was written; null: nobody is. Not part of the
  /// message.
  std::shared_ptr<block_forms> forms = {};
  /// Not zero: the trainer may be handed out up to this element, and no others before they are
  /// claimed and that is confirmed.
  uint64_t claimed = 0;
};

/// The answer to a claim, where no block brings it: the trainer may be handed out up to this
/// element. When its consumer is gone without a word, these go to nobody else.
struct stream_claimed {
  uint64_t elements = 0;
};

/// Give back what your trainer has not been given, but for `keep` elements.
struct stream_recall {
  uint64_t id = 0;
  uint64_t keep = 0;
};

/// Nothing comes after this many elements of this stream. Only `exhausted` of all tasks says that
/// the sources were read to their end.
struct stream_end {
  uint64_t elements = 0;
  task_outcome outcome = task_outcome::exhausted;
};

/// The stream is refused or cannot go on.
struct stream_failed {
  status why;
};

/// The answer to `stream_open`: the consumer is one of the task's readers, and what it holds of
/// this stream is its own.
struct stream_opened {};

/// The task's worker ends: what the task has comes as fast as it is granted, and nothing after it.
struct stream_leaving {};

/// Of coordinated reads: so many elements have arrived on the streams of all consumers, which take
/// part in that epoch. None hands out more.
struct stream_received_by_all {
  uint64_t epoch = 0;
  uint64_t elements = 0;
};

using from_task =
  std::variant<stream_opened, stream_block, stream_recall, stream_end, stream_failed,
               stream_leaving, stream_claimed, stream_received_by_all>;

} // namespace headrace
