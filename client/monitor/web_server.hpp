#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/tls_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail::monitor {

struct web_options {
  std::string host = "127.0.0.1"; ///< addresses other than loopback need `tls` or `insecure`
  uint16_t port = 0;              ///< 0: any free one
  /// True: if the server cannot listen on that port, any free one is taken.
  bool any_port = false;
  /// If set, the server uses HTTPS, and clients must present a certificate of the authority.
  tls_options tls;
  bool insecure = false;
  /// Further names under which the server may be addressed, besides IP addresses, localhost,
  /// `host`, and the name of this host if the server listens on all addresses. Requests for other
  /// names are refused: otherwise another site could let its own name resolve to this server, and
  /// its page could read the answers in the browser of a user who has access. With TLS all names
  /// are accepted, because browsers compare the name with the server's certificate.
  std::vector<std::string> names;
};

struct web_answer {
  unsigned code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// A small HTTP server for GET and HEAD. Each connection serves one request, which must arrive
/// within 5 seconds and have at most 8 KiB of header; the first byte and a TLS handshake have 2
/// seconds each; the answer must be received within 30 seconds. There may be at most 64 connections
/// in each of four stages: nothing received, in a handshake, request incomplete, being answered. A
/// further connection closes the oldest one in its stage.
class web_server {
public:
  /// Returns the answer to a request for `path`, which is passed without the query. Called by two
  /// threads; may block.
  using handler = std::function<web_answer(std::string_view path)>;

  /// Starts a server that listens. Errors name the host and port, or the TLS file;
  /// `already_exists`: the port is in use; `invalid_argument`: the host is not an address of this
  /// machine.
  static result<std::unique_ptr<web_server>> start(const web_options& options, handler answers);
  /// Ends all connections; waits for running handlers.
  ~web_server();
  web_server(const web_server&) = delete;

  uint16_t port() const noexcept;
  /// `http://127.0.0.1:5051/`
  std::string url() const;

private:
  struct impl;
  explicit web_server(std::unique_ptr<impl> own);
  std::unique_ptr<impl> impl_;
};

} // namespace headrace::detail::monitor
