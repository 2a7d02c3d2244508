#pragma once

#include "headrace/client/internal/service_session.hpp"

#include <mutex>
#include <utility>

namespace headrace::detail {

/// The session in which a worker reads other services. A worker with a certificate has a session
/// with that certificate, which is opened when it is first needed. A worker without one uses the
/// session of the process. Thread-safe.
class other_services {
public:
  explicit other_services(tls_options tls) : tls_(std::move(tls)) {}

  /// The session; null stands for the session of the process.
  result<std::shared_ptr<service_session>> session() {
    std::lock_guard lock{mutex_};
    if (tls_.enabled() && !session_) {
      HEADRACE_ASSIGN(session_, service_session::open(tls_));
    }
    return session_;
  }

private:
  const tls_options tls_;
  std::mutex mutex_;
  std::shared_ptr<service_session> session_;
};

} // namespace headrace::detail
