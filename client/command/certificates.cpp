#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <unistd.h>

namespace headrace::command {
namespace {

struct flags {
  std::string directory;
  std::string name = "host";
  int days = 365;
};

struct releases {
  void operator()(EVP_PKEY* x) const { EVP_PKEY_free(x); }
  void operator()(X509* x) const { X509_free(x); }
  void operator()(X509_EXTENSION* x) const { X509_EXTENSION_free(x); }
  void operator()(FILE* x) const { std::fclose(x); }
};
using key_ptr = std::unique_ptr<EVP_PKEY, releases>;
using certificate_ptr = std::unique_ptr<X509, releases>;
using extension_ptr = std::unique_ptr<X509_EXTENSION, releases>;
using file_ptr = std::unique_ptr<FILE, releases>;

struct identity {
  key_ptr key;
  certificate_ptr certificate;
};

/// Makes a key and its certificate, signed by `issuer`; null: the certificate of an authority,
/// signed with its own key.
result<identity> certify(const std::string& name, int days, const identity* issuer) {
  const auto failed = [] { return internal_error("OpenSSL could not make a certificate"); };
  identity out{key_ptr{EVP_EC_gen("P-256")}, certificate_ptr{X509_new()}};
  auto* x = out.certificate.get();
  if (!out.key || x == nullptr)
    return failed();
  const auto add = [&](int what, const char* value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer != nullptr ? issuer->certificate.get() : x, x, nullptr, nullptr,
                   0);
    const extension_ptr extension{X509V3_EXT_conf_nid(nullptr, &context, what, value)};
    return extension && X509_add_ext(x, extension.get(), -1) == 1;
  };
  auto* subject = X509_get_subject_name(x);
  const auto* text = reinterpret_cast<const unsigned char*>(name.c_str());
  const bool made =
    X509_set_version(x, 2) == 1
    // half of the range, so that the serial number is positive in every encoding
    && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), random_id() >> 1) == 1
    // the clocks of hosts may differ
    && X509_gmtime_adj(X509_getm_notBefore(x), -3600) != nullptr
    && X509_time_adj_ex(X509_getm_notAfter(x), days, 0, nullptr) != nullptr
    && X509_set_pubkey(x, out.key.get()) == 1
    && X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1
    && X509_set_issuer_name(x, issuer != nullptr ? X509_get_subject_name(issuer->certificate.get())
                                                 : subject)
         == 1
    && add(NID_basic_constraints, issuer != nullptr ? "critical,CA:FALSE" : "critical,CA:TRUE")
    && add(NID_key_usage, issuer != nullptr ? "critical,digitalSignature" : "critical,keyCertSign")
    && add(NID_subject_key_identifier, "hash") && add(NID_authority_key_identifier, "keyid:always")
    && X509_sign(x, issuer != nullptr ? issuer->key.get() : out.key.get(), EVP_sha256()) != 0;
  if (!made)
    return failed();
  return out;
}

/// Writes a new file that only its owner can read.
status write(const std::string& file, const std::function<int(FILE*)>& put) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return failed_precondition(fmt::format("cannot make {}: {}", file, std::strerror(errno)));
  const file_ptr out{::fdopen(fd, "w")};
  if (!out || put(out.get()) != 1 || std::fflush(out.get()) != 0)
    return failed_precondition("cannot write " + file);
  return {};
}

status write(const std::string& base, const identity& what) {
  HEADRACE_TRY(write(base + ".key", [&](FILE* out) {
    return PEM_write_PrivateKey(out, what.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }));
  return write(base + ".pem",
               [&](FILE* out) { return PEM_write_X509(out, what.certificate.get()); });
}

result<identity> read_authority(const std::string& base) {
  const file_ptr key{std::fopen((base + ".key").c_str(), "re")};
  const file_ptr certificate{std::fopen((base + ".pem").c_str(), "re")};
  if (!key || !certificate)
    return failed_precondition(fmt::format("cannot read {0}.pem and {0}.key", base));
  identity out{key_ptr{PEM_read_PrivateKey(key.get(), nullptr, nullptr, nullptr)},
               certificate_ptr{PEM_read_X509(certificate.get(), nullptr, nullptr, nullptr)}};
  if (!out.key || !out.certificate
      || X509_check_private_key(out.certificate.get(), out.key.get()) != 1)
    return failed_precondition(
      fmt::format("{0}.pem and {0}.key are no certificate and its key", base));
  return out;
}

status make(const flags& given) {
  namespace fs = std::filesystem;
  std::error_code code;
  if (!fs::exists(given.directory, code)) {
    fs::create_directories(given.directory, code);
    if (code)
      return failed_precondition(
        fmt::format("cannot make {}: {}", given.directory, code.message()));
    fs::permissions(given.directory, fs::perms::owner_all, code);
  }
  const auto ca = given.directory + "/ca";
  identity authority;
  if (fs::exists(ca + ".pem", code)) {
    HEADRACE_ASSIGN(authority, read_authority(ca));
  } else {
    HEADRACE_ASSIGN(authority, certify("headrace cluster", given.days, nullptr));
    HEADRACE_TRY(write(ca, authority));
  }
  HEADRACE_ASSIGN(const auto one, certify(given.name, given.days, &authority));
  return write(given.directory + "/" + given.name, one);
}

} // namespace

void add_certificates(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "certificates", "Make a certificate for the servers and programs of a cluster: NAME.pem and "
                    "NAME.key, signed by an authority (ca.pem, ca.key) that is made if it is not "
                    "there. Who has one may use the service; keep ca.key away from servers");
  sub.add_option("directory", given->directory, "Where the files are, or are made")
    ->type_name("DIR")
    ->required();
  sub.add_option("--name", given->name, "For whom: a host, for one")
    ->type_name("NAME")
    ->capture_default_str();
  sub.add_option("--days", given->days, "How long it is valid")
    ->check(CLI::Range(1, 36500))
    ->type_name("N")
    ->capture_default_str();
  sub.callback([given, &chosen] {
    if (given->name.empty() || given->name == "ca" || given->name.find('/') != std::string::npos)
      throw CLI::ValidationError{"--name", "it must be the name of a file, and not ca"};
    chosen = [given] {
      const auto how = make(*given);
      if (!how)
        std::fprintf(stderr, "headrace certificates: %s\n", how.message().c_str());
      return static_cast<int>(exit_code_of(how));
    };
  });
}

} // namespace headrace::command
