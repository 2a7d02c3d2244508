#pragma once

#include "headrace/client/internal/service_session.hpp"

#include <mutex>
#include <utility>

namespace headrace::detail {

/// The session in which a worker reads other services. It is opened when it is first needed: with
/// the worker's own certificate, or that of the process if the worker has none. Thread-safe.
class other_services {
public:
  explicit other_services(tls_options tls) : tls_(std::move(tls)) {}

  /// The session; null: that of the process is used.
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
