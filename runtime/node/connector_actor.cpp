#include "headrace/runtime/node/connector_actor.hpp"

#include <caf/io/middleman.hpp>
#include <caf/openssl/manager.hpp>

namespace headrace::detail {

struct connector_state::attempt {
  address to;
  duration limit;
  greeting how;
  caf::actor_clock::time_point deadline;
  caf::typed_response_promise<local<connection>> answer;
  uint64_t round = 0; ///< number of the last hello or repetition; earlier answers are void
  port::watcher::token watched = 0;
  status probed;
};

struct connect_step {
  std::function<void()> run;
};

namespace {

/// Converts an error of the framework to a status with an explanation for users.
status explain(const address& to, const caf::error& why, bool tls) {
  auto where = to_string(to);
  // The probe has found that the address accepts connections, so with TLS a connect that fails now
  // has failed in the TLS handshake.
  if (why == caf::sec::disconnect_during_handshake
      || (tls && why == caf::sec::cannot_connect_to_node))
    return {tls ? status_code::unauthenticated : status_code::unavailable,
            "connection to " + where + " was closed while greeting: "
              + (tls ? "it does not speak TLS, or one side does not trust the other's certificate "
                       "(both must be signed by the authority that the other names)"
                     : "a process there is ending, or something else listens")};
  if (why == caf::sec::unexpected_actor_messaging_interface)
    return invalid_argument("the actor at " + where + " is not one of headrace");
  if (why == caf::sec::no_actor_published_at_port)
    return unavailable("the node at " + where + " serves no actor at present");
  if (why == caf::sec::request_timeout || why == caf::sec::connection_timeout)
    return deadline_exceeded(where + " accepted the connection and did not greet in time");
  return to_status(why).with_context("cannot connect to " + where);
}

} // namespace

connector_state::connector_state(port::self_pointer<handle_type> self, node::impl& owner)
  : self_(self), owner_(owner), watcher_(self) {}

connector_state::~connector_state() {
  while (!under_way_.empty()) {
    auto x = *under_way_.begin();
    fail(x, unavailable("connecting to " + to_string(x->to) + " was given up: the node ends"));
  }
}

port::behavior<connector_state::handle_type> connector_state::make_behavior() {
  return {
    [this](const local<connect_request>& what) -> caf::result<local<connection>> {
      auto x = std::make_shared<attempt>();
      x->to = what->to;
      x->limit = what->limit;
      x->how = what->how;
      x->answer = self_->make_response_promise<local<connection>>();
      under_way_.insert(x);
      auto go = make_local<connect_step>([this, x] { begin(x); });
      if (what->delay > duration::zero())
        port::remind(self_, caf::timespan{what->delay}, go);
      else
        go->run();
      return x->answer;
    },
    [](const local<connect_step>& step) { step->run(); },
  };
}

void connector_state::begin(const attempt_ptr& x) {
  x->deadline = self_->clock().now() + x->limit;
  const auto known = reached_.find(to_string(x->to));
  if (known == reached_.end())
    probe(x);
  else if (x->how == greeting::once)
    answer(x, known->second);
  else
    greet(x, known->second.actor);
}

void connector_state::probe(const attempt_ptr& x) {
  auto me = caf::actor_cast<handle_type>(self_);
  owner_.probes.probe(
    x->to,
    {.limit = x->round == 0 ? x->limit : left(x), .expect_greeting = !owner_.options.tls.enabled()},
    [this, x, me](status outcome) {
      x->probed = std::move(outcome);
      port::tell(me, make_local<connect_step>([this, x] { join(x); }));
    });
}

void connector_state::join(const attempt_ptr& x) {
  if (!x->probed)
    return fail(x, x->probed);
  auto& system = self_->system();
  auto tls = owner_.options.tls.enabled();
  auto middleman =
    tls ? system.openssl_manager().actor_handle() : system.middleman().actor_handle();
  port::request(self_, middleman, left(x), caf::connect_atom_v, x->to.host, x->to.port)
    .then(
      [this, x, tls](const caf::node_id&, const caf::strong_actor_ptr& whom,
                     const std::set<std::string>& interface) {
        auto& system = self_->system();
        caf::error why;
        if (!whom)
          why = caf::make_error(caf::sec::no_actor_published_at_port);
        else if (!system.assignable(interface, system.message_types<published_actor>()))
          why = caf::make_error(caf::sec::unexpected_actor_messaging_interface);
        if (why)
          fail(x, explain(x->to, why, tls));
        else
          greet(x, caf::actor_cast<published_actor>(whom));
      },
      [this, x, tls](const caf::error& why) {
        // Release 0.17 of CAF reports a connection as silent if its heartbeat is due during the
        // handshake, so the attempt is repeated.
        if (why == caf::sec::connection_timeout && self_->clock().now() < x->deadline) {
          ++x->round;
          return probe(x);
        }
        fail(x, explain(x->to, why, tls));
      });
}

void connector_state::greet(const attempt_ptr& x, published_actor whom) {
  auto round = ++x->round;
  // Without the watch, a request to a lost node would end only by its time-out.
  x->watched = watcher_.watch(whom, [this, x, round](const caf::error& why) {
    if (x->round != round || !under_way_.contains(x))
      return;
    x->watched = 0;
    ++x->round;
    // The attempt is repeated until its deadline, because a node that was connected before may have
    // been restarted, and the framework sometimes loses a new connection.
    if (self_->clock().now() < x->deadline)
      probe(x);
    else
      fail(x, to_status(why).with_context("lost " + to_string(x->to) + " while greeting"));
  });
  port::request(self_, whom, left(x), make_hello(owner_.self(), 1))
    .then(
      [this, x, whom, round](const envelope& in) {
        if (x->round != round)
          return;
        auto where = to_string(x->to);
        if (auto fine = status_of(in); !fine)
          return fail(x, fine.with_context(where + " refused our hello"));
        if (!in->isHelloAck())
          return fail(x, invalid_argument("something else listens at " + where
                                          + ": it did not answer our hello with one"));
        auto peer = hello_of(in);
        if (auto fine = check_version(peer); !fine)
          return fail(x, fine.with_context("cannot use the node at " + where));
        const connection found{whom, std::move(peer)};
        keep(where, found);
        answer(x, found);
      },
      [this, x, round](const caf::error& why) {
        if (x->round != round)
          return;
        reached_.erase(to_string(x->to));
        fail(x, explain(x->to, why, false));
      });
}

void connector_state::keep(const std::string& where, const connection& found) {
  const auto at = reached_.find(where);
  const bool watched = at != reached_.end() && at->second.actor == found.actor;
  reached_.insert_or_assign(where, found);
  if (watched)
    return;
  watcher_.watch(found.actor, [this, where, who = found.actor.address()](const caf::error&) {
    if (const auto at = reached_.find(where);
        at != reached_.end() && at->second.actor.address() == who)
      reached_.erase(at);
  });
}

void connector_state::fail(const attempt_ptr& x, const status& why) { answer(x, why); }

void connector_state::answer(const attempt_ptr& x, const result<connection>& with) {
  if (under_way_.erase(x) == 0)
    return;
  if (x->watched != 0)
    watcher_.forget(x->watched);
  if (with)
    x->answer.deliver(local<connection>{*with});
  else
    x->answer.deliver(to_error(with.status()));
}

caf::timespan connector_state::left(const attempt_ptr& x) const {
  // If the deadline has passed, the request times out at once.
  return std::max<caf::timespan>(x->deadline - self_->clock().now(), std::chrono::microseconds{1});
}

} // namespace headrace::detail
