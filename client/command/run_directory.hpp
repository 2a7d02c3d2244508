#pragma once

#include "headrace/runtime/base/result.hpp"

#include <map>
#include <optional>
#include <string>

namespace headrace::command {

/// The service of a run, as recorded by its first process.
struct run_service {
  std::string address;
  std::string host;  ///< the name of the host on which the dispatcher runs
  std::string token; ///< a random number of this run, by which files of earlier runs are recognised
};

/// The progress of a process of a run.
struct run_progress {
  /// Running, done (its command has ended) or ended (its workers have ended, too).
  std::string state;
  std::string host;
  int workers = 0;
};

/// A directory that all processes of a run can read, through which they find each other: a file for
/// the service, and one for each rank. Files appear complete. Errors name the file.
class run_directory {
public:
  /// `job`: separates the runs of several jobs; may be empty.
  run_directory(std::string path, const std::string& job);

  /// Records the service; creates the directory.
  status publish(const run_service& what) const;
  /// Unset: the service is not recorded yet.
  result<std::optional<run_service>> service() const;
  /// Records the progress of a rank, if `token` is still that of the service.
  status write(int rank, const run_progress& how, const std::string& token) const;
  /// The progress of the ranks below `size` that have recorded it in the run with that token.
  std::map<int, run_progress> progress(int size, const std::string& token) const;
  /// Deletes the files of that run.
  void remove(int size, const std::string& token) const;

  const std::string& file() const noexcept { return file_; }

private:
  std::string file_of(int rank) const;

  std::string path_;
  std::string file_;
};

} // namespace headrace::command
