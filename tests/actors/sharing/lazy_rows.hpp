#pragma once

#include "tests/pipeline/random/samples.hpp"

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

namespace headrace::detail::test::sharing {

using random::element_value;

/// Elements that are computed one by one on demand: a coroutine that yields them.
class lazy_rows {
public:
  struct promise_type {
    std::optional<element_value> now;
    lazy_rows get_return_object() {
      return lazy_rows{std::coroutine_handle<promise_type>::from_promise(*this)};
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(const element_value& x) {
      now = x;
      return {};
    }
    void return_void() { now.reset(); }
    void unhandled_exception() { throw; }
  };

  lazy_rows() = default;
  explicit lazy_rows(std::coroutine_handle<promise_type> of) : of_(of) {}
  lazy_rows(lazy_rows&& other) noexcept : of_(std::exchange(other.of_, {})) {}
  lazy_rows& operator=(lazy_rows&& other) noexcept {
    std::swap(of_, other.of_);
    return *this;
  }
  ~lazy_rows() {
    if (of_)
      of_.destroy();
  }

  /// The next element; nullopt at the end, also in later calls.
  std::optional<element_value> next() {
    if (!of_ || of_.done())
      return {};
    of_.promise().now.reset();
    of_.resume();
    return std::move(of_.promise().now);
  }

private:
  std::coroutine_handle<promise_type> of_;
};

} // namespace headrace::detail::test::sharing
