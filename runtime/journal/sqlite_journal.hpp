#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/journal/journal.hpp"
#include "headrace/runtime/metrics/metric_registry.hpp"
#include "headrace/runtime/supervision/backoff.hpp"

#include <functional>
#include <memory>
#include <string>

namespace headrace::detail {

struct sqlite_journal_options {
  /// The directory of the journal's files. It is made if it does not exist; its parent must exist.
  std::string directory;
  /// Called when the state of the disk changes, from a thread of the journal; must not block. Ok:
  /// the disk works again. `resource_exhausted`: the disk is full, and either the reserve is in
  /// use, or nothing can be kept. `unavailable` or `data_loss`: nothing can be kept for another
  /// reason. While nothing can be kept, appended records wait, and the writes are repeated.
  std::function<void(status)> on_health = {};
  /// The space that is kept allocated, so that running jobs can continue when the disk is full.
  uint64_t reserve_bytes = uint64_t{16} << 20;
  /// The average time between commits under a steady load; each commit has all changes since the
  /// previous one. After a pause up to `commit_burst` commits do not wait for this time. Zero: each
  /// commit begins when the previous commit has ended.
  duration commit_spacing = std::chrono::milliseconds{2};
  uint32_t commit_burst = 64;
  /// If this number of changes waits, the next commit begins without waiting for `commit_spacing`.
  size_t crowd = 64;
  /// The pause before a write to a full disk is repeated.
  duration full_pause = std::chrono::seconds{1};
  /// The pauses before the repetitions of a write that failed for another reason.
  backoff_options failed_pauses = {.first = std::chrono::milliseconds{100},
                                   .longest = std::chrono::seconds{5}};
  /// How long the destructor waits for queued records to be written.
  duration end_patience = std::chrono::seconds{2};
  /// When the write-ahead log has this many pages, they are moved into the file.
  int checkpoint_pages = 1000;
  /// The registry for the metrics of the journal (`journal_metrics`).
  std::shared_ptr<metric_registry> metrics = std::make_shared<metric_registry>();
  /// SQLite's interface to the disk, for tests; empty: the system's.
  std::string vfs = {};
};

/// Opens the journal in a directory: one SQLite file with its write-ahead log, and a thread that
/// commits. `already_exists`: another journal uses the directory. `data_loss`: the journal is
/// damaged; an incomplete end does not count as damage. `failed_precondition`: a later version of
/// headrace has written it. If the file cannot be read or written for another reason, the error
/// contains the system's reason.
result<std::unique_ptr<journal>> open_sqlite_journal(sqlite_journal_options options);

} // namespace headrace::detail
