#pragma once

#include "headrace/runtime/base/result.hpp"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail::command {

/// The service of a run, as recorded by its first process.
struct run_service {
  std::string address;
  std::string host;  ///< the name of the host on which the dispatcher runs
  std::string token; ///< a random number of this run, which files of earlier runs do not have
};

/// The progress of a process of a run.
struct run_progress {
  /// `running`, `done` (the command of the process has ended) or `ended` (its workers have ended,
  /// too).
  std::string state;
  std::string host;
  int workers = 0;
  std::string process; ///< a random number of the process
};

/// A directory through which the processes of a run find each other; all of them need access to it.
/// It contains a file for the service and a file for each rank. No reader sees a file before the
/// file is complete. Errors name the file.
///
/// Several runs may be given the same directory. Runs whose launchers set a job id have separate
/// files, named after the job. Without job ids, a file belongs to the first process that creates
/// it, and the others get an error.
class run_directory {
public:
  /// `job`: separates the runs of several jobs; may be empty.
  run_directory(std::string path, const std::string& job);

  /// Records the service `what`; creates the directory if it is missing. `replaced`: the token in
  /// the record of an ended service, which is replaced; empty: there was no record. The error
  /// `already_exists`: another run has recorded its service first.
  status publish(const run_service& what, const std::string& replaced) const;
  /// The recorded service; unset: none is recorded yet.
  result<std::optional<run_service>> service() const;
  /// Records that this process has the rank. `already_exists`: another process has recorded the
  /// same rank.
  status claim(int rank, const run_progress& how, const std::string& token) const;
  /// Records the progress of a rank that this process has claimed. Does nothing if another process
  /// has claimed the rank since, or the run with that token is over.
  status write(int rank, const run_progress& how, const std::string& token) const;
  /// The progress that ranks below `size` of the run with that token have recorded, by rank. Ranks
  /// without a record are not in the map.
  std::map<int, run_progress> progress(int size, const std::string& token) const;
  /// Deletes the files of the run with that token, which has `size` ranks.
  void remove(int size, const std::string& token) const;

  /// Leaves a note for all processes of the run with that token: another run uses the same
  /// directory, so that it is not certain which processes belong together.
  void dispute(const std::string& token) const;
  bool disputed(const std::string& token) const;

  /// An object for each run in the directory, ordered by file name.
  std::vector<run_directory> runs() const;
  /// A warning for the user if the directory belongs to another user, or if every user may replace
  /// its files (writable for all, without the sticky bit); else empty.
  std::string doubts() const;

  const std::string& path() const noexcept { return path_; }
  const std::string& file() const noexcept { return file_; }
  /// True if the files of this object belong to a run of that job, or of a step of that job.
  bool is_of(const std::string& job) const;

private:
  std::string file_of(int rank) const;

  std::string path_;
  std::string file_;
};

} // namespace headrace::detail::command
