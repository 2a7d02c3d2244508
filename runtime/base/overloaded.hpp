#pragma once

namespace headrace::detail {

/// Combines several function objects into one with all their overloads, for `std::visit`.
template <class... F>
struct overloaded : F... {
  using F::operator()...;
};
template <class... F>
overloaded(F...) -> overloaded<F...>;

} // namespace headrace::detail
