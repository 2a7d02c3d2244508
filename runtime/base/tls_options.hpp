#pragma once

#include <string>

namespace headrace {

/// Mutual TLS: both sides of a connection present a certificate that an authority in `ca_file` has
/// signed; a peer without such a certificate is refused. The same three files are used for the data
/// port and the actor port. If all three are empty, TLS is not used; otherwise all are needed.
struct tls_options {
  /// This process's certificate (PEM; intermediate certificates may follow in the same file).
  std::string certificate;
  /// The private key of `certificate` (PEM, not encrypted).
  std::string key;
  /// Certificates of the authorities that are trusted (PEM).
  std::string ca_file;

  bool enabled() const noexcept { return !certificate.empty() || !key.empty() || !ca_file.empty(); }
};

} // namespace headrace
