#include "headrace/runtime/process/exit_code.hpp"

namespace headrace::detail {

std::string_view describe(exit_code code) noexcept {
  switch (code) {
  case exit_code::ok: return "done, or stopped when asked to";
  case exit_code::failure: return "failed; standard error says why";
  case exit_code::usage: return "wrong command line";
  case exit_code::cannot_listen: return "port in use";
  case exit_code::cannot_connect: return "no dispatcher answers at the address";
  case exit_code::version_mismatch: return "the peer is of another major version";
  case exit_code::internal: return "a defect of headrace";
  case exit_code::memory_limit: return "memory limit reached; restarted by its parent";
  case exit_code::stuck_thread: return "threads hang in foreign code; restarted by its parent";
  case exit_code::stop_overrun: return "did not stop within its budget";
  case exit_code::exec_failed: return "the program cannot be started";
  }
  return {};
}

exit_code exit_code_of(const status& why) noexcept {
  switch (why.code()) {
  case status_code::ok:
  case status_code::cancelled: return exit_code::ok;
  case status_code::invalid_argument: return exit_code::usage;
  case status_code::internal: return exit_code::internal;
  case status_code::already_exists: return exit_code::cannot_listen;
  case status_code::unavailable:
  case status_code::deadline_exceeded: return exit_code::cannot_connect;
  default: return exit_code::failure;
  }
}

exit_code exit_code_of_connect(const status& why) noexcept {
  switch (why.code()) {
  case status_code::failed_precondition: return exit_code::version_mismatch;
  case status_code::invalid_argument:
  case status_code::unauthenticated: return exit_code::cannot_connect;
  default: return exit_code_of(why);
  }
}

} // namespace headrace::detail
