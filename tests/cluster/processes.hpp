#pragma once

#include "headrace/client/headrace.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/process/child_process.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/patience.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace headrace::detail::test {

/// The command line program with these arguments.
inline child_process headrace_command(std::vector<std::string> arguments, bool merge_stderr = false,
                                      std::vector<std::string> environment = {}) {
  arguments.insert(arguments.begin(), test::headrace_program());
  return child_process::start({.argv = std::move(arguments),
                               .environment = std::move(environment),
                               .merge_stderr = merge_stderr})
    .value();
}

/// A dispatcher or worker in a process of its own. With `--no-restart`, the process that is started
/// is the server itself. The server logs only if `more` names a file for it (`--log-file`).
struct server_process {
  child_process process;
  std::string address; ///< from the line of output with which the server reports that it listens

  server_process(std::string role, std::vector<std::string> more,
                 std::vector<std::string> environment = {})
    : process(headrace_command(arguments(std::move(role), std::move(more)), false,
                               std::move(environment))) {
    const auto line = process.read_until("listening on ", patience).value();
    address = line.substr(line.rfind(' ') + 1);
  }
  /// The port on which the server listens.
  uint16_t port() const {
    return static_cast<uint16_t>(std::stoi(address.substr(address.rfind(':') + 1)));
  }

private:
  static std::vector<std::string> arguments(std::string role, std::vector<std::string> more) {
    std::vector<std::string> all{std::move(role), "--no-restart"};
    if (std::ranges::find(more, "--log-file") == more.end())
      all.insert(all.end(), {"--log-level", "off"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
};

inline server_process start_dispatcher(std::vector<std::string> more = {},
                                       std::vector<std::string> environment = {}) {
  more.insert(more.end(), {"--port", "0"});
  return {"dispatcher", std::move(more), std::move(environment)};
}
inline server_process start_worker(const std::string& dispatcher,
                                   std::vector<std::string> more = {},
                                   std::vector<std::string> environment = {}) {
  more.insert(more.end(), {"--dispatcher", dispatcher});
  return {"worker", std::move(more), std::move(environment)};
}

/// Waits until the dispatcher has at least `count` workers. Throws `error` if it has fewer after
/// `patience`.
inline void await_workers(const std::string& dispatcher, size_t count) {
  if (auto how = await_service_workers(dispatcher, count, patience); !how)
    throw error{how};
}

/// Waits until the service's status satisfies `what`. Returns false if it did not in time.
template <class Predicate>
bool shows(const std::string& dispatcher, Predicate&& what) {
  const auto until = clock::system().now() + patience;
  while (clock::system().now() < until)
    if (auto now = get_service_status(dispatcher, patience); now && what(*now))
      return true;
  return false;
}

/// Records the numbers of a range that came, and counts numbers that came again.
class once {
public:
  explicit once(size_t total) : seen_(total) {}
  void add(int64_t value) {
    if (value < 0 || static_cast<size_t>(value) >= seen_.size()
        || seen_[static_cast<size_t>(value)])
      ++wrong_;
    else
      seen_[static_cast<size_t>(value)] = true, ++count_;
  }
  /// Records all rows of a block of int64 scalars; returns their number.
  size_t add(const block& rows) {
    const auto& values = rows.columns.at(0);
    for (auto x :
         values.values<int64_t>().subspan(static_cast<size_t>(values.first_value(0)), rows.rows))
      add(x);
    failed_ += rows.errors.size();
    return rows.rows;
  }
  size_t count() const noexcept { return count_; }
  /// The number of values that came again, or that are outside the range.
  size_t wrong() const noexcept { return wrong_; }
  size_t failed() const noexcept { return failed_; }

private:
  std::vector<bool> seen_;
  size_t count_ = 0;
  size_t wrong_ = 0;
  size_t failed_ = 0;
};

} // namespace headrace::detail::test
