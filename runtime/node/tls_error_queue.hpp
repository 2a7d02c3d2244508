#pragma once

namespace headrace::detail {

/// Separates the errors of one TLS session from those of others. The framework's sessions share one
/// thread, so they share OpenSSL's queue of errors, and they do not clear it: after a failed
/// handshake, the next session that has nothing to read would be treated as failed. After this call
/// the queue is cleared before any session of this process reads, or writes after its handshake.
/// The error of a failed session stays in the queue, so that the library that uses the session (the
/// framework, or another library of the process) can read it. To be called before sessions are
/// made; further calls do nothing.
void keep_tls_errors_apart();

} // namespace headrace::detail
