#include "tests/runtime/tls/certificates.hpp"

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdexcept>

namespace headrace::detail::test {
namespace {

struct releases {
  void operator()(EVP_PKEY* x) const { EVP_PKEY_free(x); }
  void operator()(X509* x) const { X509_free(x); }
  void operator()(FILE* x) const { std::fclose(x); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, releases>;
using certificate_ptr = std::unique_ptr<X509, releases>;
using file_ptr = std::unique_ptr<FILE, releases>;

void check(bool fine) {
  if (!fine)
    throw std::runtime_error("cannot make a test certificate");
}

/// Makes a certificate for `key`, signed with `issuer_key`. If `issuer` is null, it is the
/// self-signed certificate of an authority.
certificate_ptr certify(EVP_PKEY* key, const std::string& name, long serial, X509* issuer,
                        EVP_PKEY* issuer_key) {
  certificate_ptr x{X509_new()};
  X509_set_version(x.get(), 2);
  ASN1_INTEGER_set(X509_get_serialNumber(x.get()), serial);
  X509_gmtime_adj(X509_getm_notBefore(x.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x.get()), 24 * 3600);
  X509_set_pubkey(x.get(), key);
  auto* subject = X509_get_subject_name(x.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x.get(), issuer ? X509_get_subject_name(issuer) : subject);
  if (!issuer) {
    auto* extension =
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_basic_constraints, "critical,CA:TRUE");
    X509_add_ext(x.get(), extension, -1);
    X509_EXTENSION_free(extension);
  }
  check(X509_sign(x.get(), issuer_key, EVP_sha256()) != 0);
  return x;
}

} // namespace

struct certificate_authority::impl {
  std::filesystem::path folder;
  key_ptr key;
  certificate_ptr certificate;
  long serial = 1;

  std::string path(const std::string& file) const { return folder / file; }
  void write(const std::string& file, X509* x) const {
    file_ptr out{std::fopen(path(file).c_str(), "w")};
    check(out && PEM_write_X509(out.get(), x) == 1);
  }
  void write(const std::string& file, EVP_PKEY* x) const {
    file_ptr out{std::fopen(path(file).c_str(), "w")};
    check(out && PEM_write_PrivateKey(out.get(), x, nullptr, nullptr, 0, nullptr, nullptr) == 1);
  }
};

certificate_authority::certificate_authority(std::string name) : impl_(std::make_unique<impl>()) {
  auto pattern = (std::filesystem::temp_directory_path() / "headrace_ca_XXXXXX").string();
  check(::mkdtemp(pattern.data()) != nullptr);
  impl_->folder = pattern;
  impl_->key.reset(EVP_EC_gen("P-256"));
  impl_->certificate = certify(impl_->key.get(), name, impl_->serial++, nullptr, impl_->key.get());
  impl_->write("ca.pem", impl_->certificate.get());
}

certificate_authority::~certificate_authority() {
  std::error_code ignored;
  std::filesystem::remove_all(impl_->folder, ignored);
}

tls_options certificate_authority::issue(const std::string& name) {
  key_ptr key{EVP_EC_gen("P-256")};
  auto serial = impl_->serial++;
  auto certificate = certify(key.get(), name, serial, impl_->certificate.get(), impl_->key.get());
  auto base = name + std::to_string(serial);
  impl_->write(base + ".pem", certificate.get());
  impl_->write(base + ".key", key.get());
  return {impl_->path(base + ".pem"), impl_->path(base + ".key"), file()};
}

std::string certificate_authority::file() const { return impl_->path("ca.pem"); }

} // namespace headrace::detail::test
