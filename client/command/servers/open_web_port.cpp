#include "headrace/client/command/servers/open_web_port.hpp"

namespace headrace::detail::command {

std::unique_ptr<monitor::web_server> open_web_port(const web_port& wanted, uint16_t port,
                                                   const endpoint_options& where,
                                                   monitor::monitored what) {
  if (wanted.how == web_port::choice::off)
    return nullptr;
  const bool automatic = wanted.how == web_port::choice::automatic;
  auto options = monitor::web_options_of(where);
  options.port = port != 0 ? port : automatic ? web_port::first_port : wanted.port;
  options.any_port = automatic;
  return monitor::start_monitor(options, std::move(what)).value();
}

} // namespace headrace::detail::command
