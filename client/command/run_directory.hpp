#pragma once

#include "headrace/runtime/base/result.hpp"

#include <map>
#include <optional>
#include <string>

namespace headrace::command {

/// The service of a run, as its first process writes it down.
struct run_service {
  std::string address;
  std::string host;  ///< name of the host on which the dispatcher runs
  std::string token; ///< a random number of this run, which files of earlier runs do not have
};

/// How far a process of a run is.
struct run_progress {
  std::string state; ///< running, done (its command has ended) or ended (its workers, too)
  std::string host;
  int workers = 0;
};

/// A directory that all processes of a run see, through which they find each other: a file for the
/// service, one for each rank. Files appear complete. Errors name the file.
class run_directory {
public:
  /// `job`: keeps apart the runs of several jobs; may be empty.
  run_directory(std::string path, const std::string& job);

  /// Writes down the service; creates the directory.
  status publish(const run_service& what) const;
  /// Unset: it is not there yet.
  result<std::optional<run_service>> service() const;
  /// Writes down how far a rank is, if `token` is still that of the service.
  status write(int rank, const run_progress& how, const std::string& token) const;
  /// The ranks below `size` that have written since the run with that token began.
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
