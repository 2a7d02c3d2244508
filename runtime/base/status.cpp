#include "headrace/runtime/base/status.hpp"

namespace headrace {

std::string_view to_string(status_code code) noexcept {
  switch (code) {
  case status_code::ok: return "ok";
  case status_code::cancelled: return "cancelled";
  case status_code::unknown: return "unknown";
  case status_code::invalid_argument: return "invalid_argument";
  case status_code::deadline_exceeded: return "deadline_exceeded";
  case status_code::not_found: return "not_found";
  case status_code::already_exists: return "already_exists";
  case status_code::permission_denied: return "permission_denied";
  case status_code::resource_exhausted: return "resource_exhausted";
  case status_code::failed_precondition: return "failed_precondition";
  case status_code::aborted: return "aborted";
  case status_code::out_of_range: return "out_of_range";
  case status_code::unimplemented: return "unimplemented";
  case status_code::internal: return "internal";
  case status_code::unavailable: return "unavailable";
  case status_code::data_loss: return "data_loss";
  case status_code::unauthenticated: return "unauthenticated";
  }
  return "unknown";
}

const std::string& status::message() const noexcept {
  static const std::string none;
  return rep_ ? rep_->message : none;
}

status status::with_context(std::string_view context) const {
  if (ok())
    return {};
  status out{code(), std::string{context} + ": " + message()};
  return ends_run() ? out.that_ends_run() : out;
}

status status::that_ends_run() const {
  status out;
  if (rep_)
    out.rep_ = std::make_shared<const rep>(rep{rep_->code, rep_->message, true});
  return out;
}

std::string to_string(const status& x) {
  if (x.ok())
    return "ok";
  return std::string{to_string(x.code())} + ": " + x.message();
}

} // namespace headrace
