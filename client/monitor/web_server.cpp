#include "headrace/client/monitor/web_server.hpp"

#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/link/wire/tls_check.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <fcntl.h>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unistd.h>
#include <utility> // asio 1.18 uses std::exchange without it

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/ssl/context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/strand.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>

namespace headrace::detail::monitor {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using tcp = asio::ip::tcp;
using boost::system::error_code;

constexpr auto time_of_a_handshake = std::chrono::seconds{2};
constexpr auto time_of_a_request = std::chrono::seconds{5};
/// The state of a large service has megabytes, which a slow client takes seconds to receive.
constexpr auto time_of_an_answer = std::chrono::seconds{30};
constexpr uint32_t most_header_bytes = 8 << 10;
/// The most connections in each stage (`stages`).
constexpr size_t most_connections = 64;
constexpr int threads = 2;

std::string in_lower_case(std::string_view text) {
  std::string out{text};
  for (auto& x : out)
    if (x >= 'A' && x <= 'Z')
      x = static_cast<char>(x - 'A' + 'a');
  return out;
}

/// The host in a `Host` header, without port, brackets and trailing dot, in lower case.
std::string host_of(std::string_view header) {
  if (header.starts_with('['))
    return in_lower_case(header.substr(1, header.find(']') - 1));
  auto out = in_lower_case(header.substr(0, header.find(':')));
  if (out.size() > 1 && out.ends_with('.'))
    out.pop_back();
  return out;
}

std::string name_of_this_host() {
  char name[256] = {};
  return ::gethostname(name, sizeof(name) - 1) == 0 ? name : "";
}

class exchange;

/// The stages of connections. Each stage has a limit of its own, so that clients that only connect,
/// or have not presented a certificate, do not displace clients that have sent a request. If a
/// stage is full, its oldest connection is closed: an ordinary client has left the stage by then.
class stages {
public:
  enum stage : size_t { silent, handshake, request, answer };

  /// Adds a connection to a stage. Returns its number there, and the connection that must be closed
  /// because the stage is full; null: none.
  std::pair<uint64_t, std::shared_ptr<exchange>> enter(stage where, std::weak_ptr<exchange> one) {
    const std::lock_guard lock{mutex_};
    auto& all = in_[where];
    std::shared_ptr<exchange> gives_way;
    if (all.size() >= most_connections) {
      gives_way = all.begin()->second.lock();
      all.erase(all.begin());
    }
    all.emplace(++last_, std::move(one));
    return {last_, std::move(gives_way)};
  }
  void leave(stage where, uint64_t number) {
    const std::lock_guard lock{mutex_};
    in_[where].erase(number);
  }

private:
  std::mutex mutex_;
  uint64_t last_ = 0;
  std::array<std::map<uint64_t, std::weak_ptr<exchange>>, 4> in_;
};

/// The data that all connections of a server share.
struct shared {
  web_options options;
  web_server::handler answers;
  stages connections;

  bool may_be_called(const std::string& host) const {
    // With TLS all names are allowed: a client needs a certificate, and a browser compares the name
    // with the server's certificate.
    if (options.tls.enabled())
      return true;
    error_code no_number;
    static_cast<void>(asio::ip::make_address(host, no_number));
    if (!no_number || host.empty() || host == "localhost" || host == in_lower_case(options.host))
      return true;
    return std::ranges::any_of(options.names,
                               [&](const auto& x) { return in_lower_case(x) == host; });
  }
};

/// One connection, for one request.
class exchange : public std::enable_shared_from_this<exchange> {
public:
  exchange(tcp::socket socket, asio::ssl::context* tls, std::shared_ptr<shared> with)
    : silence_(socket.get_executor()), plain_(std::move(socket)), with_(std::move(with)) {
    if (tls != nullptr)
      secure_.emplace(std::move(plain_), *tls);
    reading_.header_limit(most_header_bytes);
    reading_.body_limit(0);
  }
  ~exchange() {
    if (number_ != 0)
      with_->connections.leave(stage_, number_);
  }
  exchange(const exchange&) = delete;

  void begin() {
    enter(stages::silent);
    // The stream has no time-out for this wait, so a timer closes a connection that stays silent.
    silence_.expires_after(time_of_a_handshake);
    silence_.async_wait([me = shared_from_this()](error_code over) {
      if (!over)
        me->lowest().close();
    });
    lowest().socket().async_wait(tcp::socket::wait_read, [me = shared_from_this()](error_code how) {
      me->silence_.cancel();
      if (!how)
        me->first_bytes_came();
    });
  }

private:
  /// Called when the first bytes have arrived.
  void first_bytes_came() {
    if (!secure_)
      return read();
    enter(stages::handshake);
    lowest().expires_after(time_of_a_handshake);
    secure_->async_handshake(asio::ssl::stream_base::server,
                             [me = shared_from_this()](error_code how) {
                               if (!how)
                                 me->read();
                             });
  }

  beast::tcp_stream& lowest() { return secure_ ? secure_->next_layer() : plain_; }
  template <class F>
  void on_stream(F&& f) {
    if (secure_)
      f(*secure_);
    else
      f(plain_);
  }

  void enter(stages::stage next) {
    if (number_ != 0)
      with_->connections.leave(stage_, number_);
    stage_ = next;
    auto [number, gives_way] = with_->connections.enter(next, weak_from_this());
    number_ = number;
    if (gives_way)
      gives_way->close();
  }
  void close() {
    asio::post(lowest().get_executor(), [me = shared_from_this()] { me->lowest().close(); });
  }

  void read() {
    enter(stages::request);
    lowest().expires_after(time_of_a_request);
    on_stream([this](auto& stream) {
      http::async_read(stream, buffer_, reading_,
                       [me = shared_from_this()](error_code how, size_t) { me->answer(how); });
    });
  }

  void answer(error_code how) {
    if (how && how.category() != http::make_error_code(http::error::end_of_stream).category())
      return; // the connection is lost, or its time limit has passed
    if (how == http::error::end_of_stream)
      return;
    enter(stages::answer);
    const auto out = how ? web_answer{400, "text/plain; charset=utf-8", how.message() + "\n"}
                         : answer_to(reading_.get());
    answer_ = {};
    answer_.version(11);
    answer_.result(out.code);
    answer_.set(http::field::content_type, out.type);
    answer_.set(http::field::cache_control, "no-store");
    answer_.set("X-Content-Type-Options", "nosniff");
    answer_.set(
      "Content-Security-Policy",
      "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
      "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
    answer_.keep_alive(false);
    answer_.content_length(out.body.size());
    if (how || reading_.get().method() != http::verb::head)
      answer_.body() = out.body;
    lowest().expires_after(time_of_an_answer);
    on_stream([this](auto& stream) {
      // The header of the answer to HEAD has the length of the content that is left out.
      writing_.emplace(answer_);
      http::async_write(stream, *writing_,
                        [me = shared_from_this()](error_code, size_t) { me->end(); });
    });
  }

  web_answer answer_to(const http::request<http::empty_body>& what) const {
    const auto text = [](unsigned code, std::string why) {
      return web_answer{code, "text/plain; charset=utf-8", std::move(why) + "\n"};
    };
    if (what.method() != http::verb::get && what.method() != http::verb::head)
      return text(405, "only GET and HEAD");
    if (what.count(http::field::host) > 1)
      return text(400, "there is more than one Host");
    const auto host = host_of({what[http::field::host].data(), what[http::field::host].size()});
    if (!with_->may_be_called(host))
      return text(403, fmt::format("this server is not addressed as '{}': use its number, or give "
                                   "that name as --advertise",
                                   host));
    const std::string_view target{what.target().data(), what.target().size()};
    try {
      return with_->answers(target.substr(0, target.find('?')));
    } catch (const std::exception& why) {
      return text(500, why.what());
    }
  }

  void end() {
    if (!secure_) {
      error_code ignored;
      plain_.socket().shutdown(tcp::socket::shutdown_send, ignored);
      return;
    }
    secure_->async_shutdown([me = shared_from_this()](error_code) {});
  }

  asio::steady_timer silence_;
  beast::tcp_stream plain_;
  std::optional<beast::ssl_stream<beast::tcp_stream>> secure_;
  std::shared_ptr<shared> with_;
  beast::flat_buffer buffer_{most_header_bytes};
  http::request_parser<http::empty_body> reading_;
  http::response<http::string_body> answer_;
  std::optional<http::response_serializer<http::string_body>> writing_;
  stages::stage stage_ = stages::silent;
  uint64_t number_ = 0; ///< the connection's number in `stage_`; 0: it is in no stage
};

result<std::unique_ptr<asio::ssl::context>> load(const tls_options& files) {
  if (!files.enabled())
    return std::unique_ptr<asio::ssl::context>{};
  HEADRACE_TRY(check_tls(files));
  auto out = std::make_unique<asio::ssl::context>(asio::ssl::context::tls_server);
  try {
    SSL_CTX_set_min_proto_version(out->native_handle(), TLS1_2_VERSION);
    out->use_certificate_chain_file(files.certificate);
    out->use_private_key_file(files.key, asio::ssl::context::pem);
    out->load_verify_file(files.ca_file);
    out->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  } catch (const boost::system::system_error& why) {
    return invalid_argument(fmt::format("TLS of the HTTP port: {}", why.what()));
  }
  return out;
}

} // namespace

struct web_server::impl {
  std::shared_ptr<shared> with = std::make_shared<shared>();
  std::unique_ptr<asio::ssl::context> tls;
  asio::io_context context;
  tcp::acceptor acceptor{context};
  asio::steady_timer rest{context}; ///< runs after an accept that failed
  std::vector<std::jthread> running;

  status open(const std::string& host, uint16_t port) {
    error_code how;
    tcp::resolver resolver{context};
    const auto found = resolver.resolve(is_wildcard(host) && host.empty() ? "0.0.0.0" : host,
                                        std::to_string(port), how);
    const auto failed = [&](const char* step, status (*kind)(std::string)) {
      return kind(
        fmt::format("cannot {} {} for HTTP: {}", step, host_and_port(host, port), how.message()));
    };
    if (how)
      return failed("find", invalid_argument);
    const auto where = found.begin()->endpoint();
    acceptor = tcp::acceptor{context};
    acceptor.open(where.protocol(), how);
    if (!how)
      acceptor.set_option(tcp::acceptor::reuse_address{true}, how);
    if (!how)
      acceptor.bind(where, how);
    if (!how)
      acceptor.listen(asio::socket_base::max_listen_connections, how);
    if (!how)
      return {};
    return failed("listen on", how == asio::error::address_in_use ? already_exists
                               : how == boost::system::errc::address_not_available
                                 ? invalid_argument
                                 : failed_precondition);
  }

  void accept() {
    acceptor.async_accept(asio::make_strand(context), [this](error_code how, tcp::socket socket) {
      if (how == asio::error::operation_aborted)
        return;
      if (how)
        return accept_later();
      // Child processes, such as those of Python functions, do not inherit the socket.
      ::fcntl(socket.native_handle(), F_SETFD, FD_CLOEXEC);
      std::make_shared<exchange>(std::move(socket), tls.get(), with)->begin();
      accept();
    });
  }

  // While the process has no free file descriptor, a connection stays in the kernel's queue, and
  // each accept fails at once. So the next accept follows only after a pause.
  void accept_later() {
    rest.expires_after(std::chrono::milliseconds{100});
    rest.async_wait([this](error_code how) {
      if (!how)
        accept();
    });
  }
};

web_server::web_server(std::unique_ptr<impl> own) : impl_(std::move(own)) {}

result<std::unique_ptr<web_server>> web_server::start(const web_options& options, handler answers) {
  if (!is_loopback(options.host) && !options.tls.enabled() && !options.insecure)
    return failed_precondition(fmt::format(
      "the HTTP port would be open to everybody on {}: give TLS files, or --insecure, or "
      "bind it to 127.0.0.1",
      options.host));
  auto own = std::make_unique<impl>();
  own->with->options = options;
  auto& names = own->with->options.names;
  if (const auto name = name_of_this_host(); is_wildcard(options.host) && !name.empty())
    names.push_back(name);
  own->with->answers = std::move(answers);
  HEADRACE_ASSIGN(own->tls, load(options.tls));
  auto how = own->open(options.host, options.port);
  if (!how && options.any_port)
    how = own->open(options.host, 0);
  HEADRACE_TRY(how);
  own->accept();
  for (int i = 0; i < threads; ++i)
    own->running.emplace_back([&context = own->context] { context.run(); });
  return std::unique_ptr<web_server>{new web_server{std::move(own)}};
}

web_server::~web_server() {
  impl_->context.stop();
  impl_->running.clear();
}

uint16_t web_server::port() const noexcept {
  error_code how;
  return impl_->acceptor.local_endpoint(how).port();
}

std::string web_server::url() const {
  const auto& options = impl_->with->options;
  const auto host = is_wildcard(options.host)
                      ? (options.names.empty() ? "localhost" : options.names[0])
                      : options.host;
  return fmt::format("{}://{}/", options.tls.enabled() ? "https" : "http",
                     host_and_port(host, port()));
}

} // namespace headrace::detail::monitor
