#include "headrace/runtime/caf/error.hpp"

#include "headrace/runtime/message/types.hpp"

namespace headrace {

namespace {

constexpr auto last_code = static_cast<uint8_t>(status_code::unauthenticated);

std::string text_of(const caf::error& why) {
#if HEADRACE_CAF_LEGACY
  auto& context = why.context();
#else
  auto context = why.context();
#endif
  return context.match_elements<std::string>() ? context.get_as<std::string>(0) : std::string{};
}

status_code code_of(caf::sec code) {
  switch (code) {
  case caf::sec::request_timeout:
  case caf::sec::connection_timeout: return status_code::deadline_exceeded;
  case caf::sec::request_receiver_down:
  case caf::sec::remote_linking_failed:
  case caf::sec::cannot_connect_to_node:
  case caf::sec::disconnect_during_handshake:
  case caf::sec::no_route_to_receiving_node: return status_code::unavailable;
  case caf::sec::unexpected_message:
  case caf::sec::unexpected_response:
  case caf::sec::unexpected_actor_messaging_interface: return status_code::failed_precondition;
  default: return status_code::unknown;
  }
}

} // namespace

caf::error to_error(const status& why) {
  if (why.ok())
    return {};
  return caf::make_error(why.code(), why.message());
}

status to_status(const caf::error& why) {
  if (!why)
    return {};
  auto text = text_of(why);
  if (why.category() == caf::make_error(status_code::unknown).category()) {
    auto code =
      why.code() <= last_code ? static_cast<status_code>(why.code()) : status_code::unknown;
    return {code, std::move(text)};
  }
  if (why.category() == caf::make_error(caf::sec::runtime_error).category()) {
    auto code = static_cast<caf::sec>(why.code());
    return {code_of(code), text.empty() ? to_string(code) : to_string(code) + ": " + text};
  }
  if (why.category() == caf::make_error(caf::exit_reason::kill).category()) {
    switch (static_cast<caf::exit_reason>(why.code())) {
    case caf::exit_reason::normal: return {};
    case caf::exit_reason::kill: return cancelled("killed");
    case caf::exit_reason::user_shutdown: return cancelled("asked to stop");
    case caf::exit_reason::remote_link_unreachable:
      return unavailable("connection to the peer was lost");
    case caf::exit_reason::unreachable: return unavailable("the actor has ended");
    default: return {status_code::unknown, to_string(static_cast<caf::exit_reason>(why.code()))};
    }
  }
  return {status_code::unknown, to_string(why)};
}

namespace port {

caf::error error_of(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const headrace::error& e) {
    return to_error(e.why());
  } catch (const std::exception& e) {
    return to_error(internal_error(e.what()));
  } catch (...) {
    return to_error(internal_error("something was thrown that is no std::exception"));
  }
}

} // namespace port

} // namespace headrace
