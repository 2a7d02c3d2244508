#pragma once

#include "headrace/runtime/base/tls_options.hpp"

#include <memory>

namespace headrace {

namespace detail {
class node;
}

/// While an object of this class exists, the session of the process connects to services with
/// mutual TLS. It must be made before all other objects that use a service without a `session` of
/// their own, and destroyed after them. Without such an object, connections are plain, and a
/// service with TLS refuses them. A program that uses services with several certificates has a
/// `session` for each.
class secure_session {
public:
  /// Throws `error` if the files are unusable, or if this program has connected in another way.
  explicit secure_session(tls_options tls);
  ~secure_session();
  secure_session(const secure_session&) = delete;
  secure_session& operator=(const secure_session&) = delete;

  /// True if this program has used a service since the object was made.
  bool used() const;

private:
  std::shared_ptr<detail::node> here_;
};

} // namespace headrace
