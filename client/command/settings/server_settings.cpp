#include "headrace/client/command/settings/server_settings.hpp"

namespace headrace::detail::command {

std::string_view to_string(server_kind x) noexcept {
  switch (x) {
  case server_kind::dispatcher: return "dispatcher";
  case server_kind::worker: return "worker";
  case server_kind::up: return "up";
  }
  return {};
}

server_settings defaults_of(server_kind kind) {
  server_settings out;
  if (kind != server_kind::worker)
    out.endpoint.port = 5050;
  else
    out.http_port.how = web_port::choice::off;
  return out;
}

} // namespace headrace::detail::command
