#pragma once

namespace headrace {

/// Keeps the failures of one TLS session from those of others. The framework's sessions share a
/// thread, and with it OpenSSL's queue of errors, which they leave as it is: after a stranger's
/// failed handshake, the next session with nothing to read would be taken for broken. From now on
/// the queue is emptied before any session of this process reads or writes. Call it before sessions
/// are made, as often as you like.
void keep_tls_errors_apart();

} // namespace headrace
