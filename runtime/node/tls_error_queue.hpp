#pragma once

namespace headrace {

/// Keeps the errors of one TLS session apart from those of others. The framework's sessions share a
/// thread, and so OpenSSL's queue of errors, which they do not clear: after a failed handshake, the
/// next session with nothing to read would seem broken. After this call the queue is cleared before
/// any session of this process reads or writes. To be called before sessions are made; further
/// calls do nothing.
void keep_tls_errors_apart();

} // namespace headrace
