#pragma once

/// The one seam between the project and the release of the actor framework: whatever is named
/// differently in 0.17 and 1.1 is named here and in the files beside it, and nowhere else.

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
/// Has a layer's block of type ids registered with every system that is configured from now on.
/// Called once a block, from one source: it makes code for every type. A constant beside the block,
/// which is set by a function of that source, sees to it that the source is part of the program.
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
