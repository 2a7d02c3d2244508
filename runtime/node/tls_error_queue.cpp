#include "headrace/runtime/node/tls_error_queue.hpp"

#include <openssl/err.h>
#include <openssl/ssl.h>

namespace headrace {

namespace {

/// Called for all bytes that OpenSSL reads from or writes to the socket.
long before_transfer(BIO*, int what, const char*, size_t, int, long, int result, size_t*) {
  if (what == BIO_CB_READ || what == BIO_CB_WRITE)
    ERR_clear_error();
  return result;
}

/// The socket is set before the handshake begins.
void at_handshake(const SSL* session, int where, int result) {
  if ((where & SSL_CB_HANDSHAKE_START) != 0) {
    BIO_set_callback_ex(SSL_get_rbio(session), before_transfer);
    BIO_set_callback_ex(SSL_get_wbio(session), before_transfer);
  }
  // This callback replaces one that the context's owner may have set, so it calls that one.
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

} // namespace headrace
