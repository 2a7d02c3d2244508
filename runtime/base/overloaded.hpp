#pragma once

namespace headrace::detail {

/// One function object of several, for `std::visit`.
template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

} // namespace headrace::detail
