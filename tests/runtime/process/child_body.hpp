#pragma once

#include "headrace/runtime/process/child_process.hpp"

#include <functional>
#include <string>
#include <vector>

namespace headrace::detail::test {

/// Code that a test runs in a process of its own: the test program starts itself, and the body runs
/// in place of the tests. The result of the body is the exit code. Objects of this class are
/// declared at namespace scope, so that the new process has made them before it runs a body.
class child_body {
public:
  using function = std::function<int(const std::vector<std::string>& args)>;
  child_body(std::string name, function f);

  /// Starts the body in a new process, whose output can be read from the result.
  child_process start(std::vector<std::string> args = {}) const;

private:
  std::string name_;
};

/// Never returns: for bodies that wait until they are killed.
[[noreturn]] void wait_for_ever();
/// Prints a line that the test waits for.
void say(const std::string& line);

} // namespace headrace::detail::test
