#pragma once

#include "headrace/runtime/base/tls_options.hpp"

#include <memory>

namespace headrace {

namespace detail {
class node;
}

/// While an object of this class exists, the session of the process connects to services with
/// mutual TLS. All objects that use a service without a `session` of their own use that session, so
/// the `secure_session` must be made before them and destroyed after them. Without a
/// `secure_session` the connections of the process are plain, and a service with TLS refuses them.
/// For several certificates, a program makes a `session` for each instead.
class secure_session {
public:
  /// Throws `error` if the files are unusable, or if this program has connected in another way.
  explicit secure_session(tls_options tls);
  ~secure_session();
  secure_session(const secure_session&) = delete;
  secure_session& operator=(const secure_session&) = delete;

  /// True if this program has used a service by way of the session of the process since the object
  /// was made. The use of another `session` does not count.
  bool used() const;

private:
  std::shared_ptr<detail::node> here_;
};

} // namespace headrace
