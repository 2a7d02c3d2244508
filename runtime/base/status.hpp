#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace headrace {

/// The kind of a failure. The names and meanings are those of the canonical codes of gRPC and
/// TensorFlow.
enum class status_code : uint8_t {
  ok,
  cancelled,           ///< a stop was requested
  unknown,             ///< foreign code gave no better reason
  invalid_argument,    ///< the caller's value is wrong in any state of the system
  deadline_exceeded,   ///< a time limit has passed
  not_found,           ///< no such file, dataset, job ...
  already_exists,      ///< the id belongs to something else
  permission_denied,   ///< the request is understood, and not allowed
  resource_exhausted,  ///< memory, disk, descriptors
  failed_precondition, ///< the call is valid, but not in the present state
  aborted,             ///< another change came first; the call may be repeated
  out_of_range,        ///< past the end
  unimplemented,       ///< this build has no such function
  internal,            ///< a defect of headrace
  unavailable,         ///< there is no answer at the moment; the call may be repeated
  data_loss,           ///< stored or received bytes are damaged
  unauthenticated,     ///< no valid certificate
};

/// The code's name as written in the enumeration, e.g. `invalid_argument`.
std::string_view to_string(status_code code) noexcept;

/// The outcome of an operation that can fail: ok, or a code and a text with the problem, its place,
/// and what would be valid. Copies share the text; an ok status is one null pointer.
class [[nodiscard]] status {
public:
  status() noexcept = default;
  /// @pre `code != status_code::ok`
  status(status_code code, std::string message)
    : rep_(std::make_shared<const rep>(rep{code, std::move(message), false})) {}

  bool ok() const noexcept { return rep_ == nullptr; }
  explicit operator bool() const noexcept { return ok(); }
  status_code code() const noexcept { return rep_ ? rep_->code : status_code::ok; }
  /// Empty for ok.
  const std::string& message() const noexcept;
  /// The same code with `context` put before the message: `context: message`. Ok stays ok.
  status with_context(std::string_view context) const;

  /// The same status, marked as the reason why a whole run of a pipeline ends early. The operator
  /// `ignore_errors`, which drops failed elements, must not drop an error with this mark.
  status that_ends_run() const;
  bool ends_run() const noexcept { return rep_ && rep_->ends_run; }

  /// True if the codes and the messages are equal.
  friend bool operator==(const status& a, const status& b) noexcept {
    return a.code() == b.code() && a.message() == b.message();
  }

private:
  struct rep {
    status_code code;
    std::string message;
    bool ends_run = false;
  };
  std::shared_ptr<const rep> rep_;
};

/// `code: message`, or `ok`.
std::string to_string(const status& x);

/// Thrown by functions of the public API that return neither a `status` nor a `result`
/// (constructors, range-for), and by `result::value`.
class error : public std::runtime_error {
public:
  explicit error(headrace::status why) : std::runtime_error(to_string(why)), why_(std::move(why)) {}
  const headrace::status& why() const noexcept { return why_; }

private:
  headrace::status why_;
};

// -- makers of statuses with frequent codes -------------------------------------

inline status invalid_argument(std::string m) {
  return {status_code::invalid_argument, std::move(m)};
}
inline status not_found(std::string m) { return {status_code::not_found, std::move(m)}; }
inline status already_exists(std::string m) { return {status_code::already_exists, std::move(m)}; }
inline status failed_precondition(std::string m) {
  return {status_code::failed_precondition, std::move(m)};
}
inline status unavailable(std::string m) { return {status_code::unavailable, std::move(m)}; }
inline status deadline_exceeded(std::string m) {
  return {status_code::deadline_exceeded, std::move(m)};
}
inline status data_loss(std::string m) { return {status_code::data_loss, std::move(m)}; }
inline status cancelled(std::string m) { return {status_code::cancelled, std::move(m)}; }
inline status internal_error(std::string m) { return {status_code::internal, std::move(m)}; }
inline status unimplemented(std::string m) { return {status_code::unimplemented, std::move(m)}; }
inline status out_of_range(std::string m) { return {status_code::out_of_range, std::move(m)}; }
inline status aborted(std::string m) { return {status_code::aborted, std::move(m)}; }
inline status resource_exhausted(std::string m) {
  return {status_code::resource_exhausted, std::move(m)};
}

} // namespace headrace
