#pragma once

#include "headrace/runtime/base/status.hpp"

#include <cassert>
#include <utility>
#include <variant>

namespace headrace {

/// A `T`, or the status with the reason why there is none.
template <class T>
class [[nodiscard]] result {
public:
  using value_type = T;

  result(T value) : rep_(std::in_place_index<0>, std::move(value)) {}
  /// @pre `!why.ok()`
  result(headrace::status why) : rep_(std::in_place_index<1>, std::move(why)) {
    assert(!std::get<1>(rep_).ok());
  }

  bool ok() const noexcept { return rep_.index() == 0; }
  explicit operator bool() const noexcept { return ok(); }

  /// @pre `ok()`
  T& operator*() & noexcept { return *std::get_if<0>(&rep_); }
  const T& operator*() const& noexcept { return *std::get_if<0>(&rep_); }
  T&& operator*() && noexcept { return std::move(*std::get_if<0>(&rep_)); }
  T* operator->() noexcept { return std::get_if<0>(&rep_); }
  const T* operator->() const noexcept { return std::get_if<0>(&rep_); }

  /// The reason why there is no value; ok if there is a value.
  headrace::status status() const { return ok() ? headrace::status{} : std::get<1>(rep_); }

  /// The value. If there is none, throws `error`.
  T& value() & { return check(), **this; }
  const T& value() const& { return check(), **this; }
  T&& value() && { return check(), std::move(**this); }

private:
  void check() const {
    if (!ok())
      throw error{std::get<1>(rep_)};
  }
  std::variant<T, headrace::status> rep_;
};

} // namespace headrace

/// Returns the status of `expression` from the enclosing function if it is not ok.
#define HEADRACE_TRY(expression)                                                                   \
  do {                                                                                             \
    if (::headrace::status headrace_s = (expression); !headrace_s)                                 \
      return headrace_s;                                                                           \
  } while (false)

#define HEADRACE_CONCAT_(a, b) a##b
#define HEADRACE_CONCAT(a, b) HEADRACE_CONCAT_(a, b)
#define HEADRACE_ASSIGN_(slot, target, expression)                                                 \
  auto slot = (expression);                                                                        \
  if (!slot)                                                                                       \
    return slot.status();                                                                          \
  target = *std::move(slot)
/// `HEADRACE_ASSIGN(auto x, may_fail())` assigns the value to `x`, or returns the status from the
/// enclosing function.
#define HEADRACE_ASSIGN(target, expression)                                                        \
  HEADRACE_ASSIGN_(HEADRACE_CONCAT(headrace_r, __LINE__), target, expression)
