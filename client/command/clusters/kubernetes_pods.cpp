#include "headrace/client/command/clusters/kubernetes_pods.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/read_text.hpp"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <ctime>
#include <fmt/format.h>
#include <memory>
#include <nlohmann/json.hpp>
#include <vector>

namespace headrace::detail::command {
namespace {

constexpr int seconds_to_answer = 10;
constexpr size_t most_bytes = size_t{64} << 20;

struct api_server {
  bool tls = true;
  std::string host;
  uint16_t port = 0;
  std::string token;
  std::string ca_file;
  std::string name_space;
};

std::string variable(const char* name, const char* otherwise = "") {
  const auto* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

result<std::string> file_text(const std::string& path) {
  auto out = read_text(path);
  while (!out.empty() && (out.back() == '\n' || out.back() == '\r' || out.back() == ' '))
    out.pop_back();
  if (out.empty())
    return failed_precondition(
      fmt::format("{} is missing or empty: the pod has no service account, "
                  "or KUBERNETES_ACCOUNT names another folder",
                  path));
  return out;
}

result<api_server> api_server_of_pod() {
  api_server out;
  const auto account =
    variable("KUBERNETES_ACCOUNT", "/var/run/secrets/kubernetes.io/serviceaccount");
  auto url = variable("KUBERNETES_API");
  if (url.empty()) {
    const auto host = variable("KUBERNETES_SERVICE_HOST");
    if (host.empty())
      return failed_precondition(
        "the environment variable KUBERNETES_SERVICE_HOST is not set: this "
        "is no pod; KUBERNETES_API may name an API server");
    url = fmt::format("https://{}{}{}:{}", host.find(':') == std::string::npos ? "" : "[", host,
                      host.find(':') == std::string::npos ? "" : "]",
                      variable("KUBERNETES_SERVICE_PORT", "443"));
  }
  auto where = parse_address(url);
  if (!where)
    return where.status().with_context("the address of the Kubernetes API server");
  if (where->scheme != "http" && where->scheme != "https")
    return invalid_argument(fmt::format("KUBERNETES_API is '{}': it must be http://HOST:PORT or "
                                        "https://HOST:PORT",
                                        url));
  out.tls = where->scheme == "https";
  out.host = where->host;
  out.port = where->port;
  HEADRACE_ASSIGN(out.name_space, file_text(account + "/namespace"));
  if (out.tls) {
    HEADRACE_ASSIGN(out.token, file_text(account + "/token"));
    out.ca_file = account + "/ca.crt";
  }
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const unsigned char c : text)
    out += std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.' ? std::string(1, char(c))
                                                                    : fmt::format("%{:02X}", c);
  return out;
}

std::string last_tls_error() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const auto* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  return text == nullptr ? "no answer" : text;
}

struct free_bio {
  void operator()(BIO* x) const noexcept { BIO_free_all(x); }
};
struct free_context {
  void operator()(SSL_CTX* x) const noexcept { SSL_CTX_free(x); }
};

/// The answer of the server to a GET request: its header and body.
result<std::string> get(const api_server& from, const std::string& path) {
  const auto where = host_and_port(from.host, from.port);
  std::unique_ptr<SSL_CTX, free_context> context;
  std::unique_ptr<BIO, free_bio> connection;
  if (from.tls) {
    context.reset(SSL_CTX_new(TLS_client_method()));
    if (SSL_CTX_load_verify_locations(context.get(), from.ca_file.c_str(), nullptr) != 1)
      return failed_precondition(
        fmt::format("{} cannot be read as certificates: {}", from.ca_file, last_tls_error()));
    SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
    connection.reset(BIO_new_ssl_connect(context.get()));
    SSL* tls = nullptr;
    BIO_get_ssl(connection.get(), &tls);
    auto* rules = SSL_get0_param(tls);
    if (X509_VERIFY_PARAM_set1_ip_asc(rules, from.host.c_str()) != 1) {
      X509_VERIFY_PARAM_set1_host(rules, from.host.c_str(), 0);
      SSL_set_tlsext_host_name(tls, from.host.c_str());
    }
    BIO_set_conn_hostname(connection.get(), where.c_str());
  } else {
    connection.reset(BIO_new_connect(where.c_str()));
  }
  ERR_clear_error();
  const auto unreached = [&](std::string_view what) {
    return unavailable(
      fmt::format("the Kubernetes API server at {} {}: {}", where, what, last_tls_error()));
  };
  if (BIO_do_connect_retry(connection.get(), seconds_to_answer, 50) != 1)
    return unreached("cannot be reached");
  if (from.tls && BIO_do_handshake(connection.get()) != 1)
    return unreached("was not trusted");
  // The request is HTTP/1.0, so that the answer is not chunked and ends when the connection closes.
  const auto request =
    fmt::format("GET {} HTTP/1.0\r\nHost: {}\r\nAccept: application/json\r\n{}\r\n", path, where,
                from.token.empty() ? "" : fmt::format("Authorization: Bearer {}\r\n", from.token));
  // The connection is non-blocking, so a call may have to be repeated when the socket is ready.
  const auto end = std::time(nullptr) + seconds_to_answer;
  const auto may_retry = [&] {
    return BIO_should_retry(connection.get()) && BIO_wait(connection.get(), end, 20) == 1;
  };
  for (size_t sent = 0; sent < request.size();) {
    const auto n =
      BIO_write(connection.get(), request.data() + sent, static_cast<int>(request.size() - sent));
    if (n > 0)
      sent += static_cast<size_t>(n);
    else if (!may_retry())
      return unreached("does not take a request");
  }
  std::string answer;
  std::vector<char> part(16384);
  while (answer.size() < most_bytes) {
    const auto n = BIO_read(connection.get(), part.data(), static_cast<int>(part.size()));
    if (n > 0) {
      answer.append(part.data(), static_cast<size_t>(n));
      continue;
    }
    if (may_retry())
      continue;
    if (BIO_should_retry(connection.get()))
      return unreached("did not answer in time");
    if (n < 0)
      return unreached("broke off its answer");
    break;
  }
  if (answer.empty())
    return unreached("does not answer");
  return answer;
}

/// The JSON in the body of an answer.
result<nlohmann::json> body_of(const std::string& answer, const api_server& from,
                               const std::string& path) {
  const auto space = answer.find(' ');
  const auto code = space == std::string::npos ? "" : answer.substr(space + 1, 3);
  const auto head = answer.find("\r\n\r\n");
  auto body = nlohmann::json::parse(head == std::string::npos ? "" : answer.substr(head + 4),
                                    nullptr, /*allow_exceptions=*/false);
  const auto where = host_and_port(from.host, from.port);
  if (code != "200") {
    auto text =
      fmt::format("the Kubernetes API server at {} answers {} to GET {}", where, code, path);
    if (body.is_object() && body.contains("message") && body["message"].is_string())
      text += ": " + body["message"].get<std::string>();
    // Errors of the server and excess of its rate limit may be temporary; other refusals are not.
    return code.starts_with('5') || code == "429" ? unavailable(text) : failed_precondition(text);
  }
  if (!body.is_object() || !body.contains("items") || !body["items"].is_array())
    return invalid_argument(fmt::format(
      "the Kubernetes API server at {} answers GET {} with no list of pods", where, path));
  return body;
}

} // namespace

result<std::string> running_pod(std::string_view selector) {
  HEADRACE_ASSIGN(const auto server, api_server_of_pod());
  const auto path = fmt::format("/api/v1/namespaces/{}/pods?labelSelector={}",
                                escaped(server.name_space), escaped(selector));
  HEADRACE_ASSIGN(const auto answer, get(server, path));
  HEADRACE_ASSIGN(const auto body, body_of(answer, server, path));
  std::vector<std::pair<std::string, std::string>> running;
  std::string others;
  for (const auto& pod : body["items"]) {
    const nlohmann::json none = nlohmann::json::object();
    const auto& status = pod.is_object() && pod.contains("status") ? pod["status"] : none;
    const auto& about = pod.is_object() && pod.contains("metadata") ? pod["metadata"] : none;
    const auto name = about.value("name", std::string{});
    const auto phase = status.value("phase", std::string{});
    const auto ip = status.value("podIP", std::string{});
    if (phase == "Running" && !ip.empty() && !about.contains("deletionTimestamp"))
      running.emplace_back(name, ip);
    else
      others += fmt::format("{}{} is {}", others.empty() ? "" : ", ", name, phase);
  }
  if (running.empty())
    return unavailable(fmt::format("no pod of namespace {} with {} is Running{}", server.name_space,
                                   selector, others.empty() ? "; there is none" : ": " + others));
  return std::min_element(running.begin(), running.end())->second;
}

} // namespace headrace::detail::command
