#include "headrace/client/secure_session.hpp"

#include "headrace/client/internal/service_client.hpp"
#include "headrace/client/internal/service_session.hpp"
#include "headrace/runtime/node/node.hpp"

namespace headrace {
using namespace detail;

secure_session::secure_session(tls_options tls) {
  if (!tls.enabled())
    throw error{invalid_argument("secure_session: certificate, key and ca_file are missing")};
  here_ = service::node_with(tls).value();
}

secure_session::~secure_session() = default;

bool secure_session::used() const { return service_session::is_of_process(*here_); }

} // namespace headrace
