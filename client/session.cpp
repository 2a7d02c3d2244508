#include "headrace/client/session.hpp"

#include "headrace/client/internal/service_session.hpp"

namespace headrace {

session::session(const tls_options& tls) : state_(detail::service_session::open(tls).value()) {}

} // namespace headrace
