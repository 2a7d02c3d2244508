#pragma once

#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace headrace {

/// Streams of records that survive the process. A stream is named by any 64-bit number and has one
/// writer at a time; different streams may be written from different threads at once. What is
/// written in all streams is kept in the order of the calls: after a crash, what is there is what
/// the first so many calls made, at least all those that were reported as kept.
///
/// What waits to be written is in memory and not bounded here: who appends waits for `done` before
/// it appends much more.
class journal {
public:
  virtual ~journal() = default;

  /// Told once: ok, the record would survive a loss of power; `aborted`, the journal ended first;
  /// `invalid_argument`, the record is too large to be kept and is not. Called from a thread of the
  /// journal, or from `append` itself; must not block.
  using done = std::function<void(status)>;

  /// Keeps a record after all of the same stream before it, whole or not at all. Never blocks on
  /// the disk.
  virtual void append(uint64_t stream, buffer record, done then) = 0;
  /// `state` stands for all records of the stream so far, which are dropped. Ordered with `append`.
  /// A state that is too large to be kept is not: the records stay.
  virtual void settle(uint64_t stream, buffer state) = 0;
  /// Forgets a stream. Ordered with `append`.
  virtual void drop(uint64_t stream) = 0;

  /// What is kept of a stream: the newest state, and the records since.
  struct kept {
    std::optional<buffer> state;
    std::vector<buffer> records;
  };
  /// Gives away what was kept of a stream as the journal was opened; nothing of one that was not
  /// there. Once for each stream, before anything else is done with it: `failed_precondition`
  /// afterwards.
  virtual result<kept> recover(uint64_t stream) = 0;
  /// The streams of which something is kept, what waits to be written included; ascending.
  virtual std::vector<uint64_t> streams() = 0;
};

} // namespace headrace
