#include "tests/actors/world/virtual_network.hpp"

#include <algorithm>

namespace headrace::detail::test {

namespace {

/// The longest wait of a new connection for the other end, and the time between two checks.
constexpr duration greeting_limit = std::chrono::seconds{5};
constexpr duration look_again = std::chrono::milliseconds{100};

} // namespace

virtual_network::path& virtual_network::between(plane which, virtual_process& a,
                                                virtual_process& b) {
  return paths_[{which, std::min(&a, &b), std::max(&a, &b)}];
}

bool virtual_network::passes(const connection& c, size_t from) {
  auto& way = between(c.which, *c.ends[0].who, *c.ends[1].who);
  return !way.swallowed.contains(c.ends[from].who);
}

void virtual_network::connect(plane which, virtual_process& from, virtual_process& to,
                              std::function<void(connection_end)> accepted, connected done) {
  attempt(which, from, to, std::move(accepted), std::move(done), {},
          options_.always ? 2 * *options_.always
                          : time_.between(duration{1000}, 2 * options_.longest_delay));
}

void virtual_network::attempt(plane which, virtual_process& from, virtual_process& to,
                              std::function<void(connection_end)> accepted, connected done,
                              duration waited, duration delay) {
  from.after(delay, [=, this, &from, &to]() mutable {
    auto& way = between(which, from, to);
    if (way.refuses || !to.alive())
      return done(unavailable("connection refused"));
    // For a stopped process, the operating system accepts the connection, and the process greets
    // when it continues. A swallowed greeting is sent again by TCP. So this is tried repeatedly.
    if (!way.swallowed.empty() || to.stopped()) {
      if (waited < greeting_limit)
        return attempt(which, from, to, std::move(accepted), std::move(done), waited + look_again,
                       look_again);
      return done(deadline_exceeded("the peer accepted the connection and said nothing"));
    }
    auto c = std::make_shared<connection>();
    c->network = this;
    c->which = which;
    c->longest_delay = options_.longest_delay;
    if (options_.spread != duration{0})
      c->longest_delay += time_.between(duration{0}, options_.spread);
    c->ends[0] = {.who = &from, .life = from.life()};
    c->ends[1] = {.who = &to, .life = to.life()};
    if (connections_.size() >= clean_at_) {
      std::erase_if(connections_,
                    [](const auto& x) { return !x->ends[0].open && !x->ends[1].open; });
      clean_at_ = std::max<size_t>(64, 2 * connections_.size());
    }
    connections_.push_back(c);
    to.post([&] { accepted({c, 1}); });
    if (c->ends[0].open)
      done(connection_end{c, 0});
  });
}

bool virtual_network::send(const connection_end& from, std::function<void()> what) {
  if (!from)
    return false;
  ++messages_;
  auto& end = from.over->ends[from.side];
  if (!passes(*from.over, from.side) || !end.held.empty())
    end.held.push_back(std::move(what));
  else
    deliver(from.over, from.side, std::move(what));
  return true;
}

void virtual_network::deliver(const connection_ptr& c, size_t from, std::function<void()> what) {
  auto& end = c->ends[from];
  end.last_arrival =
    std::max(time_.now() + travel_time(c->longest_delay), end.last_arrival + duration{1});
  time_.at(end.last_arrival, [this, c, from, what = std::move(what)]() mutable {
    auto& to = c->ends[1 - from];
    if (!to.open || to.who->life() != to.life)
      return;
    // The message was swallowed on its way.
    if (!passes(*c, from))
      return c->ends[from].held.push_back(std::move(what));
    to.who->post([c, from, what = std::move(what)] {
      if (c->ends[1 - from].open)
        what();
    });
  });
}

void virtual_network::closed(const connection_ptr& c, size_t side, const status& why) {
  auto& end = c->ends[side];
  if (!end.open || end.who->life() != end.life)
    return void(end.open = false);
  end.who->post([c, side, why] {
    auto& mine = c->ends[side];
    if (std::exchange(mine.open, false) && mine.on_closed)
      mine.on_closed(why);
  });
}

void virtual_network::close(const connection_end& by, const status& why) {
  if (!by)
    return;
  auto& own = by.over->ends[by.side];
  own.open = false;
  if (own.on_closed)
    own.who->after(duration{1},
                   [c = by.over, side = by.side, why] { c->ends[side].on_closed(why); });
  // The other end notices the close after all messages that were sent before.
  auto& mine = by.over->ends[by.side];
  const auto other = 1 - by.side;
  auto notice = [this, c = by.over, other, why] { closed(c, other, why); };
  if (!passes(*by.over, by.side) || !mine.held.empty())
    return mine.held.push_back(std::move(notice));
  const auto at = std::max(time_.now() + time_.between(duration{1000}, options_.longest_delay),
                           mine.last_arrival + duration{1});
  time_.at(at, std::move(notice));
}

// -- faults -------------------------------------------------------------------------------

void virtual_network::cut(plane which, virtual_process& a, virtual_process& b) {
  refuse(which, a, b);
  for (const auto& c : std::vector{connections_})
    if (c->which == which
        && &between(which, *c->ends[0].who, *c->ends[1].who) == &between(which, a, b))
      for (size_t side : {0, 1})
        time_.after(time_.between(duration{0}, options_.longest_delay),
                    [this, c, side] { closed(c, side, unavailable("the connection was cut")); });
}

void virtual_network::refuse(plane which, virtual_process& a, virtual_process& b) {
  between(which, a, b).refuses = true;
}

void virtual_network::swallow(plane which, virtual_process& from, virtual_process& to) {
  between(which, from, to).swallowed.insert(&from);
  for (const auto& c : std::vector{connections_}) look(c);
}

void virtual_network::heal(plane which, virtual_process& a, virtual_process& b) {
  auto& way = between(which, a, b);
  way = {};
  for (const auto& c : std::vector{connections_}) {
    if (c->which != which || &between(which, *c->ends[0].who, *c->ends[1].who) != &way)
      continue;
    look(c);
    for (size_t side : {0, 1})
      for (auto& what : std::exchange(c->ends[side].held, {})) deliver(c, side, std::move(what));
  }
}

void virtual_network::heal_all() {
  for (auto& [key, way] : paths_) {
    const auto& [which, a, b] = key;
    heal(which, *a, *b);
  }
}

void virtual_network::changed(virtual_process& who) {
  for (const auto& c : std::vector{connections_})
    for (size_t side : {0, 1}) {
      if (c->ends[side].who != &who)
        continue;
      if (c->ends[side].life != who.life() && c->ends[side].open) {
        // The operating system closes the connections of a dead process.
        c->ends[side].open = false;
        auto& mine = c->ends[side];
        auto notice = [this, c, side] {
          closed(c, 1 - side, unavailable("the connection was closed by the peer"));
        };
        if (!passes(*c, side))
          mine.held.push_back(std::move(notice));
        else
          time_.at(std::max(time_.now() + time_.between(duration{1000}, options_.longest_delay),
                            mine.last_arrival + duration{1}),
                   std::move(notice));
      }
      look(c);
    }
}

void virtual_network::look(const connection_ptr& c) {
  const auto limit = silence(c->which);
  if (limit == duration{0})
    return;
  for (size_t side : {0, 1}) {
    auto& from = c->ends[side];
    const bool silent = !passes(*c, side) || from.who->stopped();
    if (!silent) {
      from.silent_since.reset();
      continue;
    }
    if (from.silent_since)
      continue;
    from.silent_since = time_.now();
    time_.after(limit, [this, c, side, since = time_.now()] {
      if (c->ends[side].silent_since != since)
        return;
      auto& to = c->ends[1 - side];
      if (!to.open || to.who->life() != to.life || !to.who->alive())
        return;
      to.who->post([this, c, side] {
        if (!c->ends[side].silent_since)
          return;
        close({c, 1 - side}, unavailable("nothing came from the peer for too long"));
      });
    });
  }
}

} // namespace headrace::detail::test
