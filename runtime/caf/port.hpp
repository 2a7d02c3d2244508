#pragma once

/// The one seam between the project and the release of the actor framework: whatever is named
/// differently in 0.17 and 1.1 is named here, and nowhere else.

#include <caf/all.hpp>
#include <caf/config.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#if CAF_MAJOR_VERSION == 0
#  define HEADRACE_CAF_LEGACY 1 // 0.17
#else
#  define HEADRACE_CAF_LEGACY 0 // 1.1
#  include <caf/actor_from_state.hpp>
#  include <caf/init_global_meta_objects.hpp>
#  include <caf/io/middleman.hpp>
#endif

namespace headrace::port {

// -- interfaces: written once as function types -------------------------------

#if HEADRACE_CAF_LEGACY
template <class Signature>
struct to_clause;
template <class... In>
struct to_clause<caf::result<void>(In...)> {
  using type = caf::reacts_to<In...>;
};
template <class Out, class... In>
struct to_clause<caf::result<Out>(In...)> {
  using type = typename caf::replies_to<In...>::template with<Out>;
};
/// Handle to an actor with the interface `Signatures`, each written `caf::result<Out>(In...)`.
template <class... Signatures>
using handle = caf::typed_actor<typename to_clause<Signatures>::type...>;
#else
template <class... Signatures>
using handle = caf::typed_actor<Signatures...>;
#endif

/// What an actor's state calls `self`.
template <class Handle>
using self_pointer = typename Handle::pointer;
/// What an actor's state returns from `make_behavior()`.
template <class Handle>
using behavior = typename Handle::behavior_type;

// -- errors ---------------------------------------------------------------------

/// Turns what an actor threw into the reason of its end. Specialise nothing; see error.hpp.
caf::error error_of(const std::exception_ptr& thrown);

template <class Code>
bool is(const caf::error& why, Code code) {
  return why == caf::make_error(code);
}

// -- actors from a state class ----------------------------------------------------

#if HEADRACE_CAF_LEGACY
/// An actor that owns a `State` for as long as it runs. `State` has `handle_type`, `name`, a
/// constructor `(self_pointer<handle_type>, args...)` and `make_behavior()`. What the constructor
/// or a handler throws ends the actor with that text as the reason.
template <class State>
class shell final : public State::handle_type::base {
public:
  using super = typename State::handle_type::base;

  template <class... Args>
  explicit shell(caf::actor_config& cfg, Args&&... args) : super(cfg) {
    // std::function wants copies, and arguments may be move-only.
    auto xs = std::make_shared<std::tuple<std::decay_t<Args>...>>(std::forward<Args>(args)...);
    make_ = [this, xs] {
      std::apply([this](auto&... x) { state_.emplace(this, std::move(x)...); }, *xs);
    };
    this->set_exception_handler([](std::exception_ptr& thrown) { return error_of(thrown); });
  }
  typename super::behavior_type make_behavior() override {
    std::exchange(make_, nullptr)();
    return state_->make_behavior();
  }
  void on_exit() override {
    make_ = nullptr;
    state_.reset();
  }
  const char* name() const override { return State::name; }

private:
  std::function<void()> make_;
  std::optional<State> state_;
};
/// Starts an actor. `host` is an actor system or an actor.
template <class State, class Host, class... Args>
typename State::handle_type spawn(Host&& host, Args&&... args) {
  return host.template spawn<shell<State>>(std::forward<Args>(args)...);
}
#else
template <class State>
class shell {
public:
  template <std::derived_from<caf::scheduled_actor> Self, class... Args>
  explicit shell(Self* self, Args&&... args) : state_(self, std::forward<Args>(args)...) {
    self->set_exception_handler(
      [](caf::scheduled_actor*, std::exception_ptr& thrown) { return error_of(thrown); });
  }
  auto make_behavior() { return state_.make_behavior(); }
  static inline const char* name = State::name;

private:
  State state_;
};
template <class State, class Host, class... Args>
typename State::handle_type spawn(Host&& host, Args&&... args) {
  return host.spawn(caf::actor_from_state<shell<State>>, std::forward<Args>(args)...);
}
#endif

// -- sending ------------------------------------------------------------------------

/// Sends and expects an answer within `limit`: `.then(on_value, on_error)`.
template <class Self, class Handle, class... Args>
auto request(Self* self, const Handle& to, caf::timespan limit, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  return self->request(to, limit, std::forward<Args>(xs)...);
#else
  return self->mail(std::forward<Args>(xs)...).request(to, limit);
#endif
}
/// Sends without a sender: no answer and no error can come back. This is how commands are sent: a
/// plain send to a handler that fails would end the sender.
template <class Handle, class... Args>
void tell(const Handle& to, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  caf::anon_send(to, std::forward<Args>(xs)...);
#else
  caf::anon_mail(std::forward<Args>(xs)...).send(to);
#endif
}
/// As `tell`, before all that waits in the mailbox already.
template <class Handle, class... Args>
void tell_urgently(const Handle& to, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  caf::anon_send<caf::message_priority::high>(to, std::forward<Args>(xs)...);
#else
  caf::anon_mail(std::forward<Args>(xs)...).urgent().send(to);
#endif
}
/// Sends to oneself after `delay` of the system's (or the test's) clock. It cannot be taken back:
/// put an epoch into the message and ignore old ones.
template <class Self, class... Args>
void remind(Self* self, caf::timespan delay, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  caf::delayed_anon_send(caf::actor_cast<caf::actor>(self), delay, std::forward<Args>(xs)...);
#else
  // An anonymous delay counts on the machine's clock, also where the system has another.
  caf::anon_mail(std::forward<Args>(xs)...)
    .schedule(self->clock().now() + delay)
    .send(caf::actor_cast<caf::actor>(self));
#endif
}
/// Lets `to` answer in this actor's place.
template <class Self, class Handle, class... Args>
auto delegate(Self* self, const Handle& to, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  return self->delegate(to, std::forward<Args>(xs)...);
#else
  return self->mail(std::forward<Args>(xs)...).delegate(to);
#endif
}
/// Asks an actor to end, with a reason that its state sees as an exit.
template <class Handle>
void ask_to_exit(const Handle& whom, caf::exit_reason why = caf::exit_reason::user_shutdown) {
  caf::anon_send_exit(whom, why);
}

// -- watching -------------------------------------------------------------------------

/// Calls back when watched actors end. An actor state owns at most one, as its member, and lends it
/// to its parts; nothing else may install a down handler.
class watcher {
public:
  using callback = std::function<void(const caf::error&)>;
  /// Names one watch, never 0.
  using token = uint64_t;

  explicit watcher(caf::scheduled_actor* self) : self_(self) {
#if HEADRACE_CAF_LEGACY
    self_->set_down_handler([this](caf::down_msg& down) {
      auto ended = watched_.find(down.source);
      if (ended == watched_.end())
        return;
      // A callback may watch and forget, so each is looked up when its turn comes.
      std::vector<token> due;
      for (auto& entry : ended->second) due.push_back(entry.first);
      for (auto id : due)
        if (auto call = take(id))
          call(down.reason);
    });
#endif
  }
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Calls `on_down` once, from this actor, with the reason (none: it ended normally). An actor
  /// that has ended already is reported at once, by a message.
  template <class Handle>
  token watch(const Handle& whom, callback on_down) {
    auto id = ++last_;
    auto address = whom.address();
#if HEADRACE_CAF_LEGACY
    auto& calls = watched_[address];
    if (calls.empty())
      self_->monitor(whom);
    calls.emplace(id, std::move(on_down));
    where_.emplace(id, address);
#else
    watched_.emplace(id,
                     self_->monitor(caf::actor_cast<caf::actor>(whom),
                                    [this, id, call = std::move(on_down)](const caf::error& why) {
                                      watched_.erase(id);
                                      call(why);
                                    }));
#endif
    return id;
  }
  /// Undoes a watch; nothing if it has called already.
  void forget(token id) {
#if HEADRACE_CAF_LEGACY
    auto address = where_.find(id);
    if (address == where_.end())
      return;
    auto whom = address->second;
    take(id);
    if (!watched_.contains(whom))
      self_->demonitor(whom);
#else
    if (auto slot = watched_.extract(id); !slot.empty())
      slot.mapped().dispose();
#endif
  }
  /// How many watches have neither called nor been undone.
  size_t size() const noexcept {
#if HEADRACE_CAF_LEGACY
    return where_.size();
#else
    return watched_.size();
#endif
  }

private:
  caf::scheduled_actor* self_;
  token last_ = 0;
#if HEADRACE_CAF_LEGACY
  /// Removes a watch and gives its callback; empty if there is none.
  callback take(token id) {
    auto address = where_.extract(id);
    if (address.empty())
      return nullptr;
    auto calls = watched_.find(address.mapped());
    auto call = std::move(calls->second.extract(id).mapped());
    if (calls->second.empty())
      watched_.erase(calls);
    return call;
  }

  std::map<caf::actor_addr, std::map<token, callback>> watched_;
  std::map<token, caf::actor_addr> where_;
#else
  std::map<token, caf::disposable> watched_;
#endif
};

// -- configuration ------------------------------------------------------------------------

/// The framework's own name of an option, e.g. `scheduler.max-threads`.
inline std::string option(const char* name) {
#if HEADRACE_CAF_LEGACY
  return name;
#else
  return std::string{"caf."} + name;
#endif
}
/// A word as the value of an option, e.g. the scheduler policy `sharing`.
#if HEADRACE_CAF_LEGACY
template <size_t Size>
caf::atom_value word(const char (&text)[Size]) {
  return caf::atom(text);
}
inline caf::atom_value word(const std::string& text) { return caf::atom_from_string(text); }
#else
inline std::string word(std::string text) { return text; }
#endif
/// Makes the types of a type-id block known. Called by a configuration's constructor, once a block.
template <class Block>
void register_types(caf::actor_system_config& cfg) {
#if HEADRACE_CAF_LEGACY
  cfg.add_message_types<Block>();
#else
  static_cast<void>(cfg);
  caf::core::init_global_meta_objects();
  caf::io::middleman::init_global_meta_objects();
  caf::init_global_meta_objects<Block>();
#endif
}

/// What `announce` was told.
inline std::vector<void (*)(caf::actor_system_config&)>& announced() {
  static std::vector<void (*)(caf::actor_system_config&)> blocks;
  return blocks;
}
/// Has a layer's block of type ids registered with every system that is configured from now on:
/// `inline const bool types_known = port::announce<caf::id_block::x>();` beside the block.
template <class Block>
bool announce() {
  announced().push_back(&register_types<Block>);
  return true;
}
/// Makes the types of all layers that are in the program known to a system.
inline void register_announced(caf::actor_system_config& cfg) {
  for (const auto block : announced()) block(cfg);
}

} // namespace headrace::port

/// Makes an enumeration usable as an error code. On 1.1 it needs a type id, too.
#if HEADRACE_CAF_LEGACY
#  define HEADRACE_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type, category)
#else
#  define HEADRACE_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type)
#endif
