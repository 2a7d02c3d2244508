#pragma once

#include "headrace/client/dataset.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/client/session.hpp"

#include <functional>
#include <stop_token>
#include <string>

namespace headrace {

/// Options of `distribute_save`.
struct distribute_save_options {
  std::string service;            ///< `host:port` of the dispatcher; empty: HEADRACE_SERVICE
  headrace::session session = {}; ///< how this program connects to the service
  saved_compression compression = saved_compression::snappy;
  /// True: the call returns when the dataset is saved. False: the dataset is written in the
  /// background; a later call for the same save with `wait` waits for it.
  bool wait = false;
  /// How long to wait for a dispatcher that does not answer, and for a worker if none works on the
  /// save.
  duration worker_timeout = std::chrono::seconds{60};
  /// How long to wait while workers work and no piece is completed.
  duration stall_timeout = std::chrono::hours{1};
  /// With `wait`: called at once, and with each change. May be empty.
  std::function<void(const save_status&)> on_progress;
  /// Ends the wait; the error is then `cancelled`. The save continues.
  std::stop_token stop;
};

/// Lets all workers of a service write a dataset into a folder, for `dataset::load`, and returns
/// the state of the save. `folder` must be the same for all workers, on storage that they share; a
/// relative path is resolved in this process.
///
/// The dataset is divided into pieces, each made of consecutive splits of one source. Each piece is
/// written by one worker, or by another one if the first is lost, and exists once, whatever
/// processes are killed. So the loaded dataset has the elements that the dataset gives in one
/// process, in their order unless the dataset has a random one, with any number of workers. A
/// dataset that cannot be divided, for instance because `take` counts all elements, is written by
/// one worker; the status contains the reason.
///
/// A call for a save that runs, or is complete, changes nothing; after a failure a call continues
/// with the missing pieces. The dispatcher need not keep its state, because the progress is in the
/// folder.
///
/// Throws `error`: `invalid_argument` (the dataset has no end, the compression is not supported, or
/// no folder is given), `already_exists` (the folder contains another dataset), `unavailable` (no
/// dispatcher, or no worker); with `wait` also `deadline_exceeded` (`stall_timeout`), and the error
/// of a worker: that of a failed element, or of a file.
save_status distribute_save(const dataset& what, const std::string& folder,
                            const distribute_save_options& options = {});

/// Waits until the state of a save differs from `known`, and returns the new state. The time limits
/// are those of `distribute_save` with `wait`, which calls this function after each change.
result<save_status> await_change(const dataset& what, const save_status& known,
                                 const distribute_save_options& options);

} // namespace headrace
