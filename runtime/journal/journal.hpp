#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace headrace::detail {

/// Streams of records that survive the process. A stream is identified by a 64-bit number and has
/// one writer at a time; several threads may write different streams at once. The order of calls is
/// kept over all streams: after a crash the journal has the effects of the first n calls, where n
/// is not smaller than the number of the last call that was reported as kept.
///
/// Records that wait to be written are in memory, which is not bounded here: a caller must wait for
/// `done` before it appends many more.
class journal {
public:
  virtual ~journal() = default;

  /// A callback for the outcome of an `append`, called once. ok: the record would survive a loss of
  /// power; `aborted`: the journal was closed before the record was written; `invalid_argument`:
  /// the record is too large and is not kept. The callback runs on a thread of the journal, or
  /// inside `append` or the destructor, and must not block.
  using done = std::function<void(status)>;

  /// Appends a record to the stream; the record is kept whole or not at all. Never blocks on the
  /// disk.
  virtual void append(uint64_t stream, buffer record, done then) = 0;
  /// Replaces all records of the stream so far by `state`. The order with calls of `append` is
  /// kept. If the state is too large to be kept, the records stay.
  virtual void settle(uint64_t stream, buffer state) = 0;
  /// Removes a stream. The order with calls of `append` is kept.
  virtual void drop(uint64_t stream) = 0;

  /// The content of a stream: its newest state, and the records after that.
  struct kept {
    std::optional<buffer> state;
    std::vector<buffer> records;
  };
  /// Moves out the content that a stream had when the journal was opened; empty if the stream did
  /// not exist. Must be called at most once for each stream, before all other calls for it; a later
  /// call returns `failed_precondition` if the stream has content.
  virtual result<kept> recover(uint64_t stream) = 0;
  /// The streams with content, including content that waits to be written, in ascending order.
  virtual std::vector<uint64_t> streams() = 0;
};

} // namespace headrace::detail
