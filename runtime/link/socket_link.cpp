#include "headrace/runtime/link/socket_link.hpp"

#include "headrace/runtime/base/duration_text.hpp"

#include <chrono>
#include <new>
#include <utility>

namespace headrace::detail {

namespace {

// The number of bytes after which a thread that calls `send` stops writing to the socket.
constexpr size_t direct_bytes = size_t{1} << 20;

} // namespace

socket_link::socket_link(std::shared_ptr<link_core> core, std::shared_ptr<io_loop> loop,
                         asio::ip::tcp::socket socket, side which, std::string peer_address,
                         link_connected ready)
  : core_(std::move(core)),
    loop_(std::move(loop)),
    side_(which),
    peer_address_(std::move(peer_address)),
    socket_(std::move(socket)),
    timer_(loop_->context()),
    reader_(core_->options.limits),
    ready_(std::move(ready)) {
  asio::error_code ignored;
  socket_.non_blocking(true, ignored);
  socket_.set_option(asio::ip::tcp::no_delay{true}, ignored);
  auto fd = socket_.native_handle();
  wire_ = core_->tls ? core_->tls->make_wire(fd, which == side::accepting) : make_plain_wire(fd);
}

// -- the handshake ---------------------------------------------------------------

void socket_link::start() {
  if (!loop_->add(shared_from_this()))
    return finish(cancelled("the link service has stopped"));
  timer_.expires_after(core_->options.handshake_timeout);
  timer_.async_wait([self = shared_from_this()](const asio::error_code& error) {
    if (!error && (self->phase_ == phase::handshake || self->phase_ == phase::greeting))
      self->refuse(refusal::silent,
                   deadline_exceeded("no hello within "
                                     + seconds_text(self->core_->options.handshake_timeout)));
  });
  handshake();
}

void socket_link::enter_crowd() {
  ticket_ =
    core_->greeting.enter(core_->options.most_greeting, [weak = weak_from_this(), loop = loop_] {
      loop->post([weak] {
        if (auto self = weak.lock())
          self->make_room();
      });
    });
}

void socket_link::handshake() {
  if (phase_ != phase::handshake)
    return;
  auto r = wire_->handshake();
  switch (r.state) {
  case wire_state::moved: return greet();
  case wire_state::want_read:
    return wait(asio::ip::tcp::socket::wait_read, &socket_link::handshake);
  case wire_state::want_write:
    return wait(asio::ip::tcp::socket::wait_write, &socket_link::handshake);
  case wire_state::ended:
  case wire_state::failed: return lost(r);
  }
}

void socket_link::greet() {
  phase_ = phase::greeting;
  if (side_ == side::connecting) {
    writer_.push_hello(core_->hello);
    pump();
    if (phase_ == phase::closed)
      return;
  }
  receive();
}

void socket_link::meet(const link_message& message) {
  auto hello = decode_hello(message.header);
  if (!hello)
    return refuse(refusal::bad_frame, hello.status());
  peer_ = *std::move(hello);
  if (side_ == side::accepting) {
    // The hello is sent even if the peer will be refused, so that the peer can report the reason.
    writer_.push_hello(core_->hello);
    pump();
    if (phase_ == phase::closed)
      return;
  }
  if (auto s = check_version(peer_); !s)
    return refuse(refusal::bad_version, s);
  timer_.cancel();
  phase_ = phase::open;
  core_->greeting.leave(ticket_);
  keep_watch();
  direct_.store(!core_->tls, std::memory_order_release);
  auto& counter = side_ == side::accepting ? core_->count.accepted : core_->count.connected;
  counter.add();
  std::exchange(ready_, nullptr)(std::shared_ptr<link>{shared_from_this()});
}

// -- receiving -------------------------------------------------------------------

void socket_link::set_handlers(link_handlers handlers) {
  auto self = shared_from_this();
  auto shared = std::make_shared<link_handlers>(std::move(handlers));
  if (!loop_->post([self, shared] { self->begin(std::move(*shared)); }) && shared->on_closed)
    shared->on_closed(closed_why_);
}

void socket_link::begin(link_handlers handlers) {
  if (phase_ == phase::closed) {
    // If there were handlers before, `on_closed` was called already.
    if (!std::exchange(handlers_, link_handlers{}) && handlers.on_closed)
      handlers.on_closed(closed_why_);
    return;
  }
  auto first = !handlers_;
  handlers_ = std::move(handlers);
  if (!first)
    return;
  if (watch_)
    watch_->begin(clock::system().now());
  receive();
}

void socket_link::receive() {
  size_t moved = 0;
  auto drained = false;
  while (deliver()) {
    if (drained)
      return wait(asio::ip::tcp::socket::wait_read, &socket_link::receive);
    if (moved >= turn_bytes) {
      asio::post(loop_->context(), [self = shared_from_this()] { self->receive(); });
      return;
    }
    auto r = wire_->read(reader_.targets());
    switch (r.state) {
    case wire_state::moved:
      reader_.filled(r.bytes);
      if (watch_)
        watch_->heard();
      moved += r.bytes;
      drained = r.drained;
      break;
    case wire_state::want_read:
      return wait(asio::ip::tcp::socket::wait_read, &socket_link::receive);
    case wire_state::want_write:
      return wait(asio::ip::tcp::socket::wait_write, &socket_link::receive);
    case wire_state::ended:
    case wire_state::failed: return lost(r);
    }
  }
}

// Passes the messages that have arrived to the handlers. False if nothing more is to be read now.
bool socket_link::deliver() {
  std::optional<link_message> message;
  try {
    for (;;) {
      if (phase_ == phase::closed || (phase_ == phase::open && !handlers_))
        return false;
      if (auto s = reader_.next(message); !s) {
        refuse(reader_.cause(), s);
        return false;
      }
      if (!message)
        return true;
      if (phase_ == phase::greeting) {
        meet(*message);
        continue;
      }
      core_->count.messages_in.add();
      core_->count.bytes_in.add(message->byte_size());
      if (handlers_->on_message)
        handlers_->on_message(*std::move(message));
    }
  } catch (const std::bad_alloc&) {
    refuse(refusal::oversized, {status_code::resource_exhausted, "no memory for a message"});
    return false;
  }
}

void socket_link::wait(asio::ip::tcp::socket::wait_type what, void (socket_link::*then)()) {
  socket_.async_wait(what, [self = shared_from_this(), then](const asio::error_code& error) {
    if (!error && self->phase_ != phase::closed)
      (self.get()->*then)();
  });
}

// -- sending ---------------------------------------------------------------------

bool socket_link::send(link_message message) {
  if (!limits().check(message))
    return false;
  if (message.content)
    return false; // the message is valid only inside a process
  auto size = message.byte_size();
  {
    std::lock_guard hold{mutex_};
    if (closed_)
      return false;
    inbox_.push_back(std::move(message));
    queued_.fetch_add(size, std::memory_order_relaxed);
    if (std::exchange(scheduled_, true))
      return true;
  }
  // This thread writes the bytes that the socket accepts at once, without waking the loop's thread.
  if (direct_.load(std::memory_order_acquire)) {
    auto left = write_some(direct_bytes);
    if (left.state != progress::idle)
      loop_->post([self = shared_from_this(), left = std::move(left)] { self->go_on(left); });
    return true;
  }
  return loop_->post([self = shared_from_this()] { self->pump(); });
}

// One thread writes at a time: first the thread that set `scheduled_`, and then the loop's thread,
// until nothing is left to write. Then `scheduled_` is reset.
socket_link::write_outcome socket_link::write_some(size_t budget) {
  std::lock_guard writing{write_mutex_};
  size_t moved = 0;
  auto messages = false;
  for (;;) {
    auto batch = writer_.batch();
    if (batch.empty()) {
      std::vector<link_message> arrived;
      {
        std::lock_guard hold{mutex_};
        if (closed_)
          return {}; // `finish` will be called, or was called
        arrived.swap(inbox_);
        scheduled_ = !arrived.empty();
      }
      if (arrived.empty())
        return {.messages = messages};
      messages = true;
      for (auto& x : arrived) writer_.push(std::move(x));
      continue;
    }
    if (moved >= budget)
      return {.state = progress::again};
    auto r = wire_->write(batch);
    switch (r.state) {
    case wire_state::moved:
      moved += r.bytes;
      account(writer_.written(r.bytes));
      if (r.drained)
        return {.state = progress::want_write};
      break;
    case wire_state::want_read: return {.state = progress::want_read};
    case wire_state::want_write: return {.state = progress::want_write};
    case wire_state::ended:
    case wire_state::failed: return {.state = progress::lost, .how = std::move(r)};
    }
  }
}

void socket_link::account(size_t bytes) {
  if (bytes == 0)
    return;
  core_->count.bytes_out.add(bytes);
  core_->count.messages_out.add(writer_.take_finished());
  queued_.fetch_sub(bytes, std::memory_order_relaxed);
}

void socket_link::pump() {
  if (phase_ != phase::closed)
    go_on(write_some(turn_bytes));
}

void socket_link::go_on(const write_outcome& left) {
  if (phase_ == phase::closed)
    return;
  switch (left.state) {
  case progress::idle:
    if (handlers_ && handlers_->on_drained && phase_ == phase::open)
      handlers_->on_drained();
    return;
  case progress::again:
    asio::post(loop_->context(), [self = shared_from_this()] { self->pump(); });
    return;
  case progress::want_read: return wait(asio::ip::tcp::socket::wait_read, &socket_link::pump);
  case progress::want_write: return wait(asio::ip::tcp::socket::wait_write, &socket_link::pump);
  case progress::lost: return lost(left.how);
  }
}

} // namespace headrace::detail
