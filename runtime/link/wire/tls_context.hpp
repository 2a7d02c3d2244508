#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/link/wire/wire.hpp"

#include <memory>

namespace headrace::detail {

/// The loaded and checked certificates with which a process uses TLS on its data port.
class tls_context {
public:
  /// @pre `options.enabled()`
  static result<std::shared_ptr<tls_context>> load(const tls_options& options);
  ~tls_context();
  tls_context(const tls_context&) = delete;
  tls_context& operator=(const tls_context&) = delete;

  /// TLS over a socket; `server`: this node has accepted the connection. The peer must present a
  /// certificate of the trusted authority.
  std::unique_ptr<wire> make_wire(int socket, bool server) const;

private:
  tls_context();
  struct rep;
  std::unique_ptr<rep> rep_;
};

} // namespace headrace::detail
