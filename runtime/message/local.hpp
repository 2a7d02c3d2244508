#pragma once

#include "headrace/runtime/caf/port.hpp"

#include <memory>
#include <string>
#include <utility>

namespace headrace {

/// A C++ value that is sent between actors of one process: a shared pointer to an immutable `T`,
/// which is never serialised. Sending it to another process is a defect, and fails at once.
///
/// Every `local<T>` is a message type of its own, so that it can be used in the signatures of
/// interfaces: `port::handle<caf::result<void>(local<task_event>)>`. The layer that declares `T`
/// lists it in its type-id block (see types.hpp), as release 1.1 of CAF requires.
template <class T>
class local {
public:
  using element_type = T;

  local() noexcept = default;
  explicit local(T value) : value_(std::make_shared<const T>(std::move(value))) {}
  explicit local(std::shared_ptr<const T> value) noexcept : value_(std::move(value)) {}

  const T& operator*() const noexcept { return *value_; }
  const T* operator->() const noexcept { return value_.get(); }
  explicit operator bool() const noexcept { return value_ != nullptr; }
  const std::shared_ptr<const T>& share() const noexcept { return value_; }

  friend std::string to_string(const local& x) { return x ? "local" : "local(null)"; }

private:
  std::shared_ptr<const T> value_;
};

/// `make_local<event>(args...)` makes a new value.
template <class T, class... Args>
local<T> make_local(Args&&... args) {
  return local<T>{std::make_shared<const T>(T{std::forward<Args>(args)...})};
}

} // namespace headrace

template <class T>
struct caf::allowed_unsafe_message_type<headrace::local<T>> : std::true_type {};
