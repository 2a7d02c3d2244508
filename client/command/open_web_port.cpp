#include "headrace/client/command/open_web_port.hpp"

namespace headrace::command {

std::unique_ptr<monitor::web_server> open_web_port(const web_port& wanted, uint16_t port,
                                                   const endpoint_options& where,
                                                   monitor::monitored what) {
  if (wanted.how == web_port::choice::off)
    return nullptr;
  const bool automatic = wanted.how == web_port::choice::automatic;
  monitor::web_options options{.host = where.host,
                               .port = port != 0   ? port
                                       : automatic ? web_port::first_port
                                                   : wanted.port,
                               .any_port = automatic,
                               .tls = where.tls,
                               .insecure = where.insecure,
                               .names = {}};
  if (!where.advertise_host.empty())
    options.names.push_back(where.advertise_host);
  return monitor::start_monitor(options, std::move(what)).value();
}

} // namespace headrace::command
