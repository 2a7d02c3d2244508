#pragma once

/// The interface between headrace and the release of the actor framework: names that differ between
/// 0.17 and 1.1 are used only here, in the other files of this folder, and in the files of other
/// folders that use HEADRACE_CAF_LEGACY.

#include <caf/all.hpp>
#include <caf/config.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
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
/// A handle to an actor with the interface `Signatures`, each written `caf::result<Out>(In...)`.
template <class... Signatures>
using handle = caf::typed_actor<typename to_clause<Signatures>::type...>;
#else
template <class... Signatures>
using handle = caf::typed_actor<Signatures...>;
#endif

/// The type of `self` in an actor's state.
template <class Handle>
using self_pointer = typename Handle::pointer;
/// The return type of `make_behavior()` in an actor's state.
template <class Handle>
using behavior = typename Handle::behavior_type;

// -- errors ---------------------------------------------------------------------

/// The error with which an actor ends after an exception: the status of a `headrace::error`, or
/// `internal` for any other exception.
caf::error error_of(const std::exception_ptr& thrown);

template <class Code>
bool is(const caf::error& why, Code code) {
  return why == caf::make_error(code);
}

// -- actors from a state class ----------------------------------------------------

#if HEADRACE_CAF_LEGACY
/// An actor that owns a `State` until it ends. `State` has `handle_type`, `name`, a constructor
/// `(self_pointer<handle_type>, args...)` and `make_behavior()`. An exception of the constructor or
/// of a handler ends the actor, with the result of `error_of` as the reason.
template <class State>
class shell final : public State::handle_type::base {
public:
  using super = typename State::handle_type::base;

  template <class... Args>
  explicit shell(caf::actor_config& cfg, Args&&... args) : super(cfg) {
    // std::function must be copyable, and arguments may be move-only.
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

/// Sends a message whose answer must arrive within `limit`; `.then(on_value, on_error)` of the
/// result receives the answer.
template <class Self, class Handle, class... Args>
auto request(Self* self, const Handle& to, caf::timespan limit, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  return self->request(to, limit, std::forward<Args>(xs)...);
#else
  return self->mail(std::forward<Args>(xs)...).request(to, limit);
#endif
}
/// Sends a message without a sender, so that no answer and no error can be returned. Commands are
/// sent in this way, because the error of a handler that fails would otherwise end the sender.
template <class Handle, class... Args>
void tell(const Handle& to, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  caf::anon_send(to, std::forward<Args>(xs)...);
#else
  caf::anon_mail(std::forward<Args>(xs)...).send(to);
#endif
}
/// Sends a message to the actor itself after `delay`, by the clock of the system (or the test). The
/// message cannot be cancelled: put an epoch into it and ignore messages with an old epoch.
template <class Self, class... Args>
void remind(Self* self, caf::timespan delay, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  caf::delayed_anon_send(caf::actor_cast<caf::actor>(self), delay, std::forward<Args>(xs)...);
#else
  // An anonymous delayed message uses the machine's clock even if the system has another one.
  caf::anon_mail(std::forward<Args>(xs)...)
    .schedule(self->clock().now() + delay)
    .send(caf::actor_cast<caf::actor>(self));
#endif
}
/// Sends a message to `to`, whose answer becomes the answer to the request that this actor handles.
template <class Self, class Handle, class... Args>
auto delegate(Self* self, const Handle& to, Args&&... xs) {
#if HEADRACE_CAF_LEGACY
  return self->delegate(to, std::forward<Args>(xs)...);
#else
  return self->mail(std::forward<Args>(xs)...).delegate(to);
#endif
}
/// Sends an exit message with a reason to an actor. The actor ends, unless its exit handler decides
/// otherwise.
template <class Handle>
void ask_to_exit(const Handle& whom, caf::exit_reason why = caf::exit_reason::user_shutdown) {
  caf::anon_send_exit(whom, why);
}

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
/// Registers the types of a type-id block. To be called once for each block, from one source file,
/// because each call makes the compiler generate code for every type.
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

} // namespace headrace::port

/// Makes an enumeration usable as an error code. Release 1.1 also requires a type id for it.
#if HEADRACE_CAF_LEGACY
#  define HEADRACE_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type, category)
#else
#  define HEADRACE_ERROR_ENUM(type, category) CAF_ERROR_CODE_ENUM(type)
#endif
