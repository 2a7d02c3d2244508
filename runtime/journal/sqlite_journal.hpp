#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/journal/journal.hpp"
#include "headrace/runtime/supervision/backoff.hpp"

#include <functional>
#include <memory>
#include <string>

namespace headrace {

struct sqlite_journal_options {
  /// Where its files are. Made if it is not there; its parent must be.
  std::string directory;
  /// Told when the state of the disk changes, from a thread of the journal; must not block. Ok: all
  /// is well again. `resource_exhausted`: the disk is full, and either the reserve is in use, or
  /// nothing can be kept. `unavailable`: it cannot be written for another reason. In each case what
  /// was appended waits, and is tried again.
  std::function<void(status)> on_health = {};
  /// Space that is kept allocated, for what runs to go on when the disk is full.
  uint64_t reserve_bytes = uint64_t{16} << 20;
  /// Commits that follow each other within this time share it evenly: `burst` of them at once, then
  /// one each. More appends gather for each of them meanwhile. Zero: each as soon as the one before
  /// is done.
  duration commit_spacing = std::chrono::milliseconds{2};
  uint32_t commit_burst = 64;
  /// As many appends do not wait for others.
  size_t crowd = 64;
  /// When a full disk is tried again.
  duration full_pause = std::chrono::seconds{1};
  /// When a disk that fails otherwise is tried again.
  backoff_options failed_pauses = {.first = std::chrono::milliseconds{100},
                                   .longest = std::chrono::seconds{5}};
  /// How long the destructor lets what is queued be written.
  duration end_patience = std::chrono::seconds{2};
  /// Pages of the write-ahead log after which they go into the file itself.
  int checkpoint_pages = 1000;
  /// SQLite's way to the disk, for tests; empty: the system's.
  std::string vfs = {};
};

/// Opens the journal in a directory: one SQLite file with its write-ahead log, and a thread that
/// commits. `already_exists`: another journal has the directory. `data_loss`: something in it is
/// damaged, other than that its end is torn. `failed_precondition`: a later version of headrace has
/// written it. Otherwise as the system says why it cannot be read or written.
result<std::unique_ptr<journal>> open_sqlite_journal(sqlite_journal_options options);

} // namespace headrace
