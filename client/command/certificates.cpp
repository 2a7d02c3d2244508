#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <arpa/inet.h>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>
#include <memory>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <string_view>
#include <unistd.h>
#include <vector>

namespace headrace::detail::command {
namespace {

struct flags {
  std::string directory;
  std::string name = "host";
  std::vector<std::string> hosts; ///< empty: the hosts that `default_hosts` returns
  int days = 365;
};

/// A common name in a certificate is at most this long; longer names are cut.
constexpr size_t longest_common_name = 64;
constexpr size_t longest_host = 253;

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

// -- names -------------------------------------------------------------------------------------

bool is_ip(const std::string& host) {
  in6_addr any{};
  return ::inet_pton(AF_INET, host.c_str(), &any) == 1
         || ::inet_pton(AF_INET6, host.c_str(), &any) == 1;
}

/// True for a name as in DNS, which may contain `*`. Such a name contains no comma, and no other
/// character that has a meaning in OpenSSL's list of alternative names.
bool is_host_name(const std::string& host) {
  const auto allowed = [](unsigned char x) {
    return std::isalnum(x) != 0 || x == '-' || x == '_' || x == '.' || x == '*';
  };
  return !host.empty() && host.size() <= longest_host && std::ranges::all_of(host, allowed)
         && host.front() != '.' && host.find("..") == std::string::npos;
}

/// The hosts of a certificate by default: `name`, if it is a host name or an IP address, the names
/// of this host, and `localhost` with its addresses.
std::vector<std::string> default_hosts(const std::string& name) {
  std::vector<std::string> out;
  if (is_host_name(name) || is_ip(name))
    out.push_back(name);
  char own[longest_host + 3] = {};
  if (::gethostname(own, sizeof(own) - 1) == 0 && is_host_name(own)) {
    out.emplace_back(own);
    if (const std::string_view text{own}; text.find('.') != text.npos)
      out.emplace_back(text.substr(0, text.find('.')));
  }
  out.insert(out.end(), {"localhost", "127.0.0.1", "::1"});
  return out;
}

/// The hosts without duplicates, in OpenSSL's form: `DNS:data-1,IP:10.0.0.1`.
std::string alternative_names(const std::vector<std::string>& hosts) {
  std::vector<std::string> out;
  for (const auto& x : hosts)
    if (auto one = (is_ip(x) ? "IP:" : "DNS:") + x; std::ranges::find(out, one) == out.end())
      out.push_back(std::move(one));
  return fmt::format("{}", fmt::join(out, ","));
}

// -- certificates ------------------------------------------------------------------------------

struct identity {
  key_ptr key;
  certificate_ptr certificate;
};

/// A new key, and its certificate for these hosts, which `issuer` signs. If `issuer` is null, the
/// certificate is that of an authority, and is signed with its own key.
result<identity> certify(const std::string& name, const std::vector<std::string>& hosts, int days,
                         const identity* issuer) {
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
  const auto common_name = name.substr(0, longest_common_name);
  const auto* text = reinterpret_cast<const unsigned char*>(common_name.c_str());
  const bool made =
    X509_set_version(x, 2) == 1
    // The highest bit is 0, so that the serial number is positive in every encoding.
    && ASN1_INTEGER_set_uint64(X509_get_serialNumber(x), random_id() >> 1) == 1
    // The certificate is valid from an hour ago, because the clocks of hosts may differ.
    && X509_gmtime_adj(X509_getm_notBefore(x), -3600) != nullptr
    && X509_time_adj_ex(X509_getm_notAfter(x), days, 0, nullptr) != nullptr
    && X509_set_pubkey(x, out.key.get()) == 1
    && X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, text, -1, -1, 0) == 1
    && X509_set_issuer_name(x, issuer != nullptr ? X509_get_subject_name(issuer->certificate.get())
                                                 : subject)
         == 1
    && add(NID_basic_constraints, issuer != nullptr ? "critical,CA:FALSE" : "critical,CA:TRUE")
    && add(NID_key_usage, issuer != nullptr ? "critical,digitalSignature" : "critical,keyCertSign")
    // A process is a server for some processes and a client of others.
    && (issuer == nullptr
        || (add(NID_ext_key_usage, "serverAuth,clientAuth")
            && add(NID_subject_alt_name, alternative_names(hosts).c_str())))
    && add(NID_subject_key_identifier, "hash") && add(NID_authority_key_identifier, "keyid:always")
    && X509_sign(x, issuer != nullptr ? issuer->key.get() : out.key.get(), EVP_sha256()) != 0;
  if (!made)
    return failed();
  return out;
}

/// Writes a new file that only its owner may access. An existing file is an error. If the content
/// cannot be written, the file is deleted.
status write(const std::string& file, const std::function<int(FILE*)>& put) {
  const int fd = ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0)
    return failed_precondition(fmt::format("cannot make {}: {}", file, std::strerror(errno)));
  const file_ptr out{::fdopen(fd, "w")};
  errno = 0;
  if (out && put(out.get()) == 1 && std::fflush(out.get()) == 0)
    return {};
  const auto why = errno;
  ::unlink(file.c_str());
  return failed_precondition(fmt::format("cannot write {}{}{}", file, why != 0 ? ": " : "",
                                         why != 0 ? std::strerror(why) : ""));
}

status write(const std::string& base, const identity& what) {
  HEADRACE_TRY(write(base + ".key", [&](FILE* out) {
    return PEM_write_PrivateKey(out, what.key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }));
  auto how =
    write(base + ".pem", [&](FILE* out) { return PEM_write_X509(out, what.certificate.get()); });
  if (!how)
    ::unlink((base + ".key").c_str()); // a key without its certificate is of no use
  return how;
}

certificate_ptr read_certificate(const std::string& file) {
  const file_ptr in{std::fopen(file.c_str(), "re")};
  return certificate_ptr{in ? PEM_read_X509(in.get(), nullptr, nullptr, nullptr) : nullptr};
}

/// Ok if the files `base`.pem and `base`.key can be kept: a certificate with its key, signed by
/// this authority, not expired, and valid for the given hosts. Else an error with a remedy.
status check_existing(const std::string& base, const X509* authority, const flags& given) {
  const auto refuse = [&](const std::string& why) {
    return failed_precondition(
      fmt::format("{}.pem is there, and {}. Give another --name, or remove "
                  "{}.pem and {}.key to make them anew",
                  base, why, base, base));
  };
  const auto certificate = read_certificate(base + ".pem");
  const file_ptr in{std::fopen((base + ".key").c_str(), "re")};
  const key_ptr key{in ? PEM_read_PrivateKey(in.get(), nullptr, nullptr, nullptr) : nullptr};
  auto* x = certificate.get();
  if (x == nullptr || !key || X509_check_private_key(x, key.get()) != 1)
    return refuse(fmt::format("is no certificate with its key in {}.key", base));
  if (X509_verify(x, X509_get0_pubkey(authority)) != 1)
    return refuse("is not of the authority beside it");
  if (X509_cmp_current_time(X509_get0_notAfter(x)) <= 0)
    return refuse("is not valid any more");
  for (const auto& host : given.hosts)
    if ((is_ip(host) ? X509_check_ip_asc(x, host.c_str(), 0)
                     : X509_check_host(x, host.c_str(), host.size(), 0, nullptr))
        != 1)
      return refuse("is not for " + host);
  return {};
}

result<identity> read_authority(const std::string& base) {
  const file_ptr key{std::fopen((base + ".key").c_str(), "re")};
  const file_ptr certificate{std::fopen((base + ".pem").c_str(), "re")};
  if (!key || !certificate)
    return failed_precondition(fmt::format(
      "cannot read {0}.{1}: the authority has made other certificates, and without that "
      "file it makes no more. Copy it from where it is kept, or remove the directory "
      "and make all certificates anew",
      base, key ? "pem" : "key"));
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
  const auto base = given.directory + "/" + given.name;
  identity authority;
  const bool has_pem = fs::exists(base + ".pem", code), has_key = fs::exists(base + ".key", code);
  if (has_pem != has_key)
    return failed_precondition(fmt::format("{0}.{1} is there without {0}.{2}; give another --name, "
                                           "or remove it to make both anew",
                                           base, has_pem ? "pem" : "key", has_pem ? "key" : "pem"));
  const auto there = read_certificate(ca + ".pem");
  if (there && X509_cmp_current_time(X509_get0_notAfter(there.get())) <= 0)
    return failed_precondition(
      fmt::format("{}.pem, the authority of all certificates in {}, is not valid any more: remove "
                  "the directory and make all certificates anew",
                  ca, given.directory));
  if (there && has_pem)
    return check_existing(base, there.get(), given);
  if (fs::exists(ca + ".pem", code)) {
    HEADRACE_ASSIGN(authority, read_authority(ca));
  } else {
    HEADRACE_ASSIGN(authority, certify("headrace cluster", {}, given.days, nullptr));
    HEADRACE_TRY(write(ca, authority));
  }
  HEADRACE_ASSIGN(const auto one,
                  certify(given.name, given.hosts.empty() ? default_hosts(given.name) : given.hosts,
                          given.days, &authority));
  return write(base, one);
}

} // namespace

void add_certificates(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "certificates", "Make a certificate for the servers and programs of a cluster: NAME.pem and "
                    "NAME.key, signed by an authority (ca.pem, ca.key) that is made if it is not "
                    "there. What is there already is kept. Who has one may use the service; keep "
                    "ca.key away from servers");
  sub.add_option("directory", given->directory, "Where the files are, or are made")
    ->type_name("DIR")
    ->required();
  sub.add_option("--name", given->name, "For whom: a host, for one")
    ->type_name("NAME")
    ->capture_default_str();
  sub
    .add_option("--hosts", given->hosts,
                "Names and IP addresses under which browsers, curl and Prometheus reach servers "
                "with it (subjectAltName), with commas between; default: NAME, those of this host, "
                "localhost, 127.0.0.1 and ::1. Servers and programs of headrace compare none")
    ->type_name("HOST,...")
    ->delimiter(',');
  sub.add_option("--days", given->days, "How long it is valid")
    ->check(CLI::Range(1, 36500))
    ->type_name("N")
    ->capture_default_str();
  sub.callback([given, &chosen] {
    if (given->name.empty() || given->name == "ca" || given->name.find('/') != std::string::npos)
      throw CLI::ValidationError{"--name", "it must be the name of a file, and not ca"};
    if (given->name.size() > longest_host)
      throw CLI::ValidationError{"--name",
                                 fmt::format("it is longer than {} characters", longest_host)};
    for (const auto& host : given->hosts)
      if (!is_ip(host) && !is_host_name(host))
        throw CLI::ValidationError{
          "--hosts", fmt::format("'{}' is neither the name of a host nor an IP address", host)};
    chosen = [given] {
      const auto how = make(*given);
      if (!how)
        std::fprintf(stderr, "headrace certificates: %s\n", how.message().c_str());
      return static_cast<int>(exit_code_of(how));
    };
  });
}

} // namespace headrace::detail::command
