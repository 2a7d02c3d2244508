#include "headrace/runtime/node/tls_error_queue.hpp"

#include <initializer_list>
#include <openssl/err.h>
#include <openssl/ssl.h>

namespace headrace::detail {

namespace {

/// OpenSSL calls this function before and after each operation on the socket. Before bytes are read
/// or written, the function clears the queue of errors.
long before_transfer(BIO* socket, int what, const char*, size_t, int, long, int result, size_t*) {
  // A session that fails sends an alert, and `SSL_in_init` is true meanwhile, as in a handshake.
  // The queue is not cleared then, because it contains the session's own error, which the caller
  // has not read yet.
  const auto* session = reinterpret_cast<const SSL*>(BIO_get_callback_arg(socket));
  if (what == BIO_CB_READ || (what == BIO_CB_WRITE && SSL_in_init(session) == 0))
    ERR_clear_error();
  return result;
}

/// Adds `before_transfer` to the session's socket, which is set before the handshake begins.
void at_handshake(const SSL* session, int where, int result) {
  if ((where & SSL_CB_HANDSHAKE_START) != 0) {
    for (auto* socket : {SSL_get_rbio(session), SSL_get_wbio(session)}) {
      // Other libraries use buffers, which may outlive the session to which the argument points.
      if (BIO_method_type(socket) != BIO_TYPE_SOCKET)
        continue;
      BIO_set_callback_ex(socket, before_transfer);
      BIO_set_callback_arg(socket, reinterpret_cast<char*>(const_cast<SSL*>(session)));
    }
  }
  // This callback replaces the callback that the context's owner may have set, so it calls that
  // callback, too.
  if (auto* others = SSL_CTX_get_info_callback(SSL_get_SSL_CTX(session)))
    others(session, where, result);
}

void at_new_session(void* session, void*, CRYPTO_EX_DATA*, int, long, void*) {
  SSL_set_info_callback(static_cast<SSL*>(session), at_handshake);
}

} // namespace

void keep_tls_errors_apart() {
  [[maybe_unused]] static const int once =
    SSL_get_ex_new_index(0, nullptr, at_new_session, nullptr, nullptr);
}

} // namespace headrace::detail
