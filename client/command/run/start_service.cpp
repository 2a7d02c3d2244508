#include "headrace/client/command/run/start_service.hpp"

#include "headrace/client/command/run/run_notices.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/ids.hpp"

#include <fmt/format.h>
#include <string>

namespace headrace::detail::command {

status start_service(run_process& self, time_point until) {
  std::string before;
  if (self.by_directory()) {
    HEADRACE_ASSIGN(const auto there, self.directory.service());
    if (const auto doubts = self.directory.doubts(); !doubts.empty())
      say(doubts);
    if (there && get_service_status(there->address, std::chrono::seconds{1})) {
      self.directory.dispute(there->token);
      return already_exists(
        fmt::format("{} is that of another run, with the service at {} (host {}); {}",
                    self.directory.file(), there->address, there->host, one_each));
    }
    before = there ? there->token : "";
  } else if (!self.options.service.empty()) {
    if (const auto there = get_service_status(self.options.service, std::chrono::seconds{1}))
      return already_exists(fmt::format("at {} is the service of another run, with {} worker{}; "
                                        "{}",
                                        self.options.service, there->workers.size(),
                                        there->workers.size() == 1 ? "" : "s", one_each));
  }
  HEADRACE_ASSIGN(self.service, self.servers.start_dispatcher(self.options, until));
  // Processes of this host might be unable to reach the dispatcher at its advertised address, so
  // they connect to its address on this host.
  const auto port = parse_address(self.service).value().port;
  self.local = host_and_port(host_from_here(self.options.host), port);
  self.token = to_hex(random_id());
  if (!self.by_directory())
    return {};
  const auto how = self.directory.publish({self.service, self.host, self.token}, before);
  if (how.code() != status_code::already_exists)
    return how;
  if (const auto there = self.directory.service(); there && *there)
    self.directory.dispute((*there)->token);
  return already_exists(fmt::format("{}; {}", how.message(), one_each));
}

} // namespace headrace::detail::command
