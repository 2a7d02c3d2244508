#include "headrace/runtime/link/wire/tls_context.hpp"

#include "headrace/runtime/link/wire/tls_check.hpp"

#include <bit>
#include <cerrno>
#include <climits>
#include <cstdio>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace headrace::detail {

namespace {

std::string openssl_reason() {
  auto code = ERR_get_error();
  ERR_clear_error();
  if (code == 0)
    return "unknown reason";
  const char* text = ERR_reason_error_string(code);
  return text != nullptr ? text : "error " + std::to_string(code);
}

status readable(const char* what, const std::string& path) {
  if (path.empty())
    return invalid_argument(std::string{"TLS needs "} + what
                            + ": a certificate, its key and an authority's file belong together");
  auto* file = std::fopen(path.c_str(), "re");
  if (file == nullptr)
    return not_found(std::string{"cannot read "} + what + " '" + path
                     + "': " + std::generic_category().message(errno));
  std::fclose(file);
  return {};
}

status unusable(const char* what, const std::string& path, const char* right) {
  return invalid_argument(std::string{what} + " '" + path + "' is unusable: " + openssl_reason()
                          + "; " + right);
}

// A service cannot prompt for a password, so an encrypted key is an error.
int no_password(char*, int, int, void*) { return 0; }

status verify_own(SSL_CTX* context, const tls_options& options) {
  std::unique_ptr<X509_STORE_CTX, decltype(&X509_STORE_CTX_free)> check{X509_STORE_CTX_new(),
                                                                        X509_STORE_CTX_free};
  STACK_OF(X509)* chain = nullptr;
  SSL_CTX_get_extra_chain_certs(context, &chain);
  X509_STORE_CTX_init(check.get(), SSL_CTX_get_cert_store(context),
                      SSL_CTX_get0_certificate(context), chain);
  if (X509_verify_cert(check.get()) == 1)
    return {};
  auto why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(check.get()));
  ERR_clear_error();
  return invalid_argument("certificate '" + options.certificate + "' is not one that '"
                          + options.ca_file + "' vouches for: " + why);
}

status load_files(SSL_CTX* context, const tls_options& options) {
  HEADRACE_TRY(readable("a certificate", options.certificate));
  HEADRACE_TRY(readable("a private key", options.key));
  HEADRACE_TRY(readable("an authority's certificate", options.ca_file));
  ERR_clear_error();
  SSL_CTX_set_default_passwd_cb(context, no_password);
  if (SSL_CTX_use_certificate_chain_file(context, options.certificate.c_str()) != 1)
    return unusable("certificate", options.certificate, "it must be a PEM certificate");
  if (SSL_CTX_load_verify_file(context, options.ca_file.c_str()) != 1)
    return unusable("authority's certificate", options.ca_file, "it must hold PEM certificates");
  // This fails if the key is damaged, or is of the certificate's type and does not belong to the
  // certificate; the check below detects a key of another type.
  if (SSL_CTX_use_PrivateKey_file(context, options.key.c_str(), SSL_FILETYPE_PEM) != 1)
    return unusable("private key", options.key,
                    "it must be the unencrypted PEM key of the certificate");
  if (SSL_CTX_check_private_key(context) != 1)
    return unusable("private key", options.key, "it must belong to the certificate");
  return verify_own(context, options);
}

// -- socket access without signals ---------------------------------------------

// OpenSSL's own socket BIO writes without MSG_NOSIGNAL, so that a lost connection raises SIGPIPE.
int bio_write(BIO* bio, const char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto n = ::send(static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))), data,
                  static_cast<size_t>(size), MSG_NOSIGNAL);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    BIO_set_retry_write(bio);
  return static_cast<int>(n);
}

int bio_read(BIO* bio, char* data, int size) {
  BIO_clear_retry_flags(bio);
  auto n = ::recv(static_cast<int>(reinterpret_cast<intptr_t>(BIO_get_data(bio))), data,
                  static_cast<size_t>(size), 0);
  if (n < 0 && (errno == EAGAIN || errno == EINTR))
    BIO_set_retry_read(bio);
  if (n == 0)
    BIO_set_flags(bio, BIO_FLAGS_IN_EOF);
  return static_cast<int>(n);
}

long bio_ctrl(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF)
    return BIO_test_flags(bio, BIO_FLAGS_IN_EOF) != 0 ? 1 : 0;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

class tls_wire final : public wire {
public:
  tls_wire(SSL_CTX* context, BIO_METHOD* method, int socket, bool server) : ssl_(SSL_new(context)) {
    auto* bio = BIO_new(method);
    if (ssl_ == nullptr || bio == nullptr) {
      BIO_free(bio);
      SSL_free(ssl_);
      throw std::bad_alloc{};
    }
    BIO_set_data(bio, std::bit_cast<void*>(static_cast<intptr_t>(socket)));
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl_, bio, bio);
    if (server)
      SSL_set_accept_state(ssl_);
    else
      SSL_set_connect_state(ssl_);
  }
  ~tls_wire() override { SSL_free(ssl_); }

  wire_result handshake() override {
    ERR_clear_error();
    return outcome(SSL_do_handshake(ssl_), "TLS handshake failed");
  }

  wire_result read(std::span<const iovec> into) override {
    return each(into, [this](const iovec& x, size_t& n) {
      return SSL_read_ex(ssl_, x.iov_base, x.iov_len, &n);
    });
  }

  wire_result write(std::span<const iovec> from) override {
    return each(from, [this](const iovec& x, size_t& n) {
      return SSL_write_ex(ssl_, x.iov_base, x.iov_len, &n);
    });
  }

private:
  // Calls `move` for one TLS record at a time, until all of `what` is moved or the connection has
  // no more bytes or no room.
  template <class Move>
  wire_result each(std::span<const iovec> what, Move move) {
    size_t sum = 0;
    for (auto x : what) {
      while (x.iov_len != 0) {
        size_t n = 0;
        ERR_clear_error();
        auto ok = move(x, n);
        if (ok != 1) {
          auto r = outcome(ok, "TLS connection failed");
          // The bytes that were moved are reported now, and the error by the next call.
          if (sum == 0)
            return r;
          return {.bytes = sum};
        }
        sum += n;
        x.iov_base = static_cast<std::byte*>(x.iov_base) + n;
        x.iov_len -= n;
      }
    }
    return {.bytes = sum};
  }

  wire_result outcome(int code, const char* context) {
    if (code == 1)
      return {};
    auto saved = errno;
    switch (SSL_get_error(ssl_, code)) {
    case SSL_ERROR_WANT_READ: return {.state = wire_state::want_read};
    case SSL_ERROR_WANT_WRITE: return {.state = wire_state::want_write};
    case SSL_ERROR_ZERO_RETURN: return {.state = wire_state::ended};
    case SSL_ERROR_SYSCALL:
      if (saved == 0)
        return {.state = wire_state::ended};
      return {.state = wire_state::failed,
              .why = unavailable("connection lost: " + std::generic_category().message(saved))};
    default: {
      auto code_of = ERR_peek_error();
      if (ERR_GET_REASON(code_of) == SSL_R_UNEXPECTED_EOF_WHILE_READING) {
        ERR_clear_error();
        return {.state = wire_state::ended};
      }
      return {.state = wire_state::failed,
              .why = {status_code::unauthenticated, std::string{context} + ": " + reason()}};
    }
    }
  }

  std::string reason() {
    auto verify = SSL_get_verify_result(ssl_);
    auto text = openssl_reason();
    if (verify != X509_V_OK)
      text += std::string{" ("} + X509_verify_cert_error_string(verify) + ")";
    return text;
  }

  SSL* ssl_;
};

} // namespace

struct tls_context::rep {
  SSL_CTX* context = nullptr;
  BIO_METHOD* method = nullptr;
};

tls_context::tls_context() : rep_(std::make_unique<rep>()) {
  rep_->context = SSL_CTX_new(TLS_method());
  rep_->method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "headrace socket");
  if (rep_->context == nullptr || rep_->method == nullptr)
    throw std::bad_alloc{};
  BIO_meth_set_write(rep_->method, bio_write);
  BIO_meth_set_read(rep_->method, bio_read);
  BIO_meth_set_ctrl(rep_->method, bio_ctrl);
  auto* context = rep_->context;
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER
                              | SSL_MODE_RELEASE_BUFFERS);
  // Links live long, so TLS sessions are not resumed.
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
  SSL_CTX_set_num_tickets(context, 0);
}

tls_context::~tls_context() {
  SSL_CTX_free(rep_->context);
  BIO_meth_free(rep_->method);
}

result<std::shared_ptr<tls_context>> tls_context::load(const tls_options& options) {
  std::shared_ptr<tls_context> out{new tls_context};
  HEADRACE_TRY(load_files(out->rep_->context, options));
  return out;
}

std::unique_ptr<wire> tls_context::make_wire(int socket, bool server) const {
  return std::make_unique<tls_wire>(rep_->context, rep_->method, socket, server);
}

status check_tls(const tls_options& options) {
  if (!options.enabled())
    return {};
  return tls_context::load(options).status();
}

} // namespace headrace::detail
