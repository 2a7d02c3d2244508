#pragma once

#include "headrace/runtime/base/tls_options.hpp"

#include <memory>

namespace headrace {

class node;

/// While one lives, this program connects to services with mutual TLS. It comes before all else
/// that uses a service and goes after it: a program speaks one way at a time. Without one,
/// connections are plain, and a service that wants TLS gives nothing.
class secure_session {
public:
  /// Throws `error`: the files are unusable, or this program is connected otherwise.
  explicit secure_session(tls_options tls);
  ~secure_session();
  secure_session(const secure_session&) = delete;
  secure_session& operator=(const secure_session&) = delete;

  /// Has this program asked anything of a service since?
  bool used() const;

private:
  std::shared_ptr<node> here_;
};

} // namespace headrace
