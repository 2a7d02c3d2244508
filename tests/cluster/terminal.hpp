#pragma once

#include <pty.h>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

namespace headrace::detail::test {

/// Runs a program in a terminal; returns its output.
inline std::string written_to_a_terminal(std::vector<std::string> argv) {
  std::vector<char*> raw;
  for (auto& word : argv) raw.push_back(word.data());
  raw.push_back(nullptr);
  int terminal = -1;
  const auto pid = ::forkpty(&terminal, nullptr, nullptr, nullptr);
  if (pid == 0) {
    ::execv(raw[0], raw.data());
    ::_exit(127);
  }
  std::string out;
  char some[4096];
  // `read` fails with EIO when no process has the terminal open any more.
  for (ssize_t n = 0; (n = ::read(terminal, some, sizeof some)) > 0;)
    out.append(some, static_cast<size_t>(n));
  ::close(terminal);
  int status = 0;
  ::waitpid(pid, &status, 0);
  return out;
}

} // namespace headrace::detail::test
