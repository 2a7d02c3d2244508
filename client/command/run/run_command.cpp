#include "headrace/client/command/run/run_command.hpp"

#include "headrace/client/command/run/lost_service.hpp"
#include "headrace/client/command/run/run_notices.hpp"
#include "headrace/runtime/process/child_process.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <fmt/format.h>
#include <utility>

namespace headrace::detail::command {

int run_command(run_process& self) {
  child_options program{.argv = self.options.command, .read_stdout = false};
  program.environment = {"HEADRACE_SERVICE=" + self.service};
  if (self.options.tls.enabled())
    for (const auto& [name, value] : {std::pair{"HEADRACE_TLS_CERT", self.options.tls.certificate},
                                      {"HEADRACE_TLS_KEY", self.options.tls.key},
                                      {"HEADRACE_TLS_CA", self.options.tls.ca_file}})
      program.environment.push_back(fmt::format("{}={}", name, value));
  auto child = child_process::start(std::move(program));
  if (!child) {
    say(child.status().message());
    return static_cast<int>(exit_code::exec_failed);
  }
  return self.servers
    .run(*child, self.options.stop_timeout,
         [&self] { return self.stopped_because = why_lost(self); })
    .as_exit_code();
}

} // namespace headrace::detail::command
