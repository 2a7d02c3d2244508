#pragma once

#include "headrace/runtime/base/tls_options.hpp"

#include <memory>

namespace headrace {

namespace detail {
struct service_session;
}

/// The connections of a program to services. A program may have several sessions at a time, each
/// with a certificate of its own; copies of a session share its connections. The connections exist
/// as long as a copy exists, or an object that was made with a copy, such as a dataset or an
/// iterator.
class session {
public:
  /// The session of the process: plain, or that of a `secure_session`.
  session() = default;
  /// A session that connects with mutual TLS. Throws `error` if the files are missing or unusable.
  explicit session(const tls_options& tls);

  /// For use inside the library. Null: the session of the process.
  const std::shared_ptr<detail::service_session>& state() const noexcept { return state_; }

private:
  std::shared_ptr<detail::service_session> state_;
};

} // namespace headrace
