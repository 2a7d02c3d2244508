#pragma once

#include "headrace/runtime/base/tls_options.hpp"

#include <memory>
#include <string>

namespace headrace::detail::test {

/// A certificate authority, whose files are removed with the object.
class certificate_authority {
public:
  explicit certificate_authority(std::string name);
  ~certificate_authority();

  /// Options with a new key, its certificate signed by this authority, and the authority's
  /// certificate.
  tls_options issue(const std::string& name);
  /// The path of the authority's certificate, a PEM file.
  std::string file() const;

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace::detail::test
