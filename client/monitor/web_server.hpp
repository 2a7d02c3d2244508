#pragma once

#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/tls_options.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::monitor {

struct web_options {
  std::string host = "127.0.0.1"; ///< addresses other than loopback need `tls` or `insecure`
  uint16_t port = 0;              ///< 0: any free one
  /// True: if that port is in use, any free one is taken.
  bool any_port = false;
  /// If set, the server uses HTTPS, and clients must present a certificate of the authority.
  tls_options tls;
  bool insecure = false;
  /// Further names under which clients may address the server, besides numeric addresses, localhost
  /// and `host`. Requests for other names are refused, because a page of another site could
  /// otherwise read the server through the browser of a permitted user.
  std::vector<std::string> names;
};

struct web_answer {
  unsigned code = 200;
  std::string type = "text/plain; charset=utf-8";
  std::string body;
};

/// A small HTTP server for GET and HEAD. Each request has a connection of its own, with limits of 5
/// seconds and 8 KiB of header; if more than 64 connections are open, further ones are closed at
/// once.
class web_server {
public:
  /// Returns the answer to a path, without its query. Called by two threads; may block.
  using handler = std::function<web_answer(std::string_view path)>;

  /// Starts to listen. Errors name the host and port, or the TLS file.
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

} // namespace headrace::monitor
