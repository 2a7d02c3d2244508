#pragma once

#include "tests/cluster/processes.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace headrace::detail::test {

/// A file with one line, and one whose reads never return: a pipe into which nobody writes.
class unanswering_files {
public:
  unanswering_files() : folder_(std::filesystem::temp_directory_path() / "headrace_stuck_XXXXXX") {
    if (::mkdtemp(folder_.data()) == nullptr || ::mkfifo(pipe().c_str(), 0600) != 0)
      throw std::system_error{errno, std::generic_category(), folder_};
    std::ofstream{folder_ + "/first"} << "a line\n";
  }
  unanswering_files(const unanswering_files&) = delete;
  ~unanswering_files() {
    ::close(writer_);
    std::filesystem::remove_all(folder_);
  }

  /// Calls `read` and destroys the iterator. So a thread of the worker remains that is blocked in
  /// reading the second file.
  void leave_a_thread_behind(const std::string& dispatcher) { static_cast<void>(read(dispatcher)); }
  /// Reads the first line through the service, and returns the iterator when a worker's thread has
  /// opened the second file. That thread is requested to stop when the iterator is destroyed.
  std::optional<dataset_iterator> read(const std::string& dispatcher,
                                       sharding_policy mode = sharding_policy::off) {
    std::optional<dataset_iterator> out;
    start(dispatcher, mode, out);
    return out;
  }

private:
  void start(const std::string& dispatcher, sharding_policy mode,
             std::optional<dataset_iterator>& reading) {
    reading = dataset::text_lines({folder_ + "/first", pipe()})
                .apply(distribute({.processing_mode = mode, .service = dispatcher}))
                .iterate();
    auto line = reading->next();
    ASSERT_TRUE(line) << to_string(line.status());
    ASSERT_TRUE(*line);
    const auto limit = clock::system().now() + patience;
    // A pipe can be opened for writing without blocking only while another process reads it.
    while ((writer_ = ::open(pipe().c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC)) < 0)
      ASSERT_LT(clock::system().now(), limit) << "nobody reads the second file";
  }
  std::string pipe() const { return folder_ + "/second"; }

  std::string folder_;
  int writer_ = -1;
};

} // namespace headrace::detail::test
