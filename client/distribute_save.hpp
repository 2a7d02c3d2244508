#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/client/service_status.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace headrace {

/// How a dataset is saved by a service.
struct distribute_save_options {
  std::string service; ///< `host:port` of the dispatcher; empty: as HEADRACE_SERVICE says
  std::string compression = "AUTO"; ///< "NONE", "SNAPPY", "GZIP" or "AUTO" (snappy)
  /// Waits until the dataset is saved. Else it is written meanwhile, and whoever asks for the same
  /// save again, with `wait`, waits for it.
  bool wait = false;
  /// How long to wait for a dispatcher that does not answer, and for a worker while none works on
  /// it.
  duration worker_timeout = std::chrono::seconds{60};
  /// How long to wait while workers work, and no piece gets done.
  duration stall_timeout = std::chrono::hours{1};
  /// With `wait`: told at once, and with each change. May be empty.
  std::function<void(const save_status&)> on_progress;
  /// Ends the wait: `cancelled`. The save goes on.
  std::stop_token stop;
};

/// Has all workers of a service write a dataset into a folder, for `dataset::load`, and says how
/// far that is. `folder` is the same for all workers: storage that they share; a relative one is
/// looked for here.
///
/// The dataset is divided into pieces, each made of a run of splits of one source. Each piece is
/// written by one worker, again by another one where that is lost, and is there once, whatever is
/// killed. So what is loaded is what the dataset gives in one process: the same elements, and the
/// same order unless the dataset has a random one, with any number of workers. A dataset that
/// cannot be divided so, as `take` counts all elements, is written by one worker, which the status
/// says with the reason.
///
/// To ask for a save that runs, or is there, changes nothing; after a failure it goes on with the
/// pieces that are missing. Needs no dispatcher that keeps its state: all of it is in the folder.
///
/// Throws `error`: `invalid_argument` (a dataset without end, the compression, no folder),
/// `already_exists` (the folder holds another dataset), `unavailable` (no dispatcher, or no
/// worker); with `wait` also what a worker met: the error of an element that failed, or of a file.
save_status distribute_save(const dataset& what, const std::string& folder,
                            const distribute_save_options& options = {});

/// Waits until the save is another than `known`, as `distribute_save` does with `wait`: what it is
/// then.
result<save_status> await_change(const dataset& what, const save_status& known,
                                 const distribute_save_options& options);

} // namespace headrace
