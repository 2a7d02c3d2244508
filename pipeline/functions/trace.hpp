#pragma once

#include "headrace/pipeline/functions/assertions.hpp"
#include "headrace/pipeline/functions/ragged.hpp"
#include "headrace/pipeline/graph/dataset_node.hpp"

#include <concepts>
#include <functional>
#include <optional>

namespace headrace {

/// A dataset of the elements of a parameter that is itself a dataset. For a structure of such
/// parameters, the elements of the datasets are side by side, as under a zip. Throws `error` if a
/// parameter is no dataset.
dataset_ptr elements_of(const expr_structure& datasets);

namespace detail {

template <class T>
concept dataset_like = std::convertible_to<T, dataset_ptr> || requires(const T& x) {
  { x.node() } -> std::convertible_to<dataset_ptr>;
};

/// A function's parameter that is made of several expressions.
template <class T>
concept takes_structure = std::same_as<T, expr_structure> || std::same_as<T, ragged>;
/// A function's parameter that is a dataset.
template <class T>
concept takes_dataset = dataset_like<T> && std::constructible_from<T, dataset_ptr>;

template <class T>
inline constexpr bool is_tuple = false;
template <class... Ts>
inline constexpr bool is_tuple<std::tuple<Ts...>> = true;
template <class A, class B>
inline constexpr bool is_tuple<std::pair<A, B>> = true;

template <class T>
expr_structure to_structure(const T& x) {
  if constexpr (is_tuple<T>)
    return std::apply(
      [](const auto&... parts) { return expr_structure::tuple({to_structure(parts)...}); }, x);
  else
    return expr_structure{x};
}

/// One traced call: its parameters, and its results.
class tracing {
public:
  explicit tracing(const element_spec& argument);
  const expr_structure& argument() const noexcept { return argument_; }
  [[noreturn]] void wrong_arity() const;

  template <class R>
  function finish(const R& result) && {
    if constexpr (std::convertible_to<R, dataset_ptr>)
      return std::move(*this).with_dataset(static_cast<dataset_ptr>(result));
    else if constexpr (dataset_like<R>)
      return std::move(*this).with_dataset(static_cast<dataset_ptr>(result.node()));
    else
      return std::move(*this).with_tensors(to_structure(result));
  }

private:
  function with_tensors(const expr_structure& tensors) &&;
  function with_dataset(dataset_ptr dataset) &&;
  function made_;
  expr_structure argument_;
};

/// The parameter types of a callable with a single signature.
template <class Signature>
struct parameters;
template <class R, class... Ps>
struct parameters<std::function<R(Ps...)>> {
  static constexpr size_t count = sizeof...(Ps);
  static constexpr bool known =
    (...
     && (std::same_as<
           std::remove_cvref_t<Ps>,
           expr> || takes_structure<std::remove_cvref_t<Ps>> || takes_dataset<std::remove_cvref_t<Ps>>));
  static constexpr bool whole =
    count == 1 && (... && std::same_as<std::remove_cvref_t<Ps>, expr_structure>);

  template <class P>
  static auto convert(const expr_structure& part) {
    if constexpr (std::same_as<std::remove_cvref_t<P>, expr>)
      return part.single();
    else if constexpr (takes_dataset<std::remove_cvref_t<P>>)
      return std::remove_cvref_t<P>{elements_of(part)};
    else
      return std::remove_cvref_t<P>{part};
  }
  template <class F>
  static function call(tracing&& trace, const expr_structure& argument, F& f) {
    return [&]<size_t... I>(std::index_sequence<I...>) {
      return std::move(trace).finish(std::invoke(f, convert<Ps>(argument.child(I))...));
    }
    (std::make_index_sequence<count>{});
  }
};

template <class F>
concept has_signature = requires(F f) {
  std::function{f};
};

inline constexpr size_t most_parameters = 16;

template <size_t>
using nth_expr = expr;
template <class F, size_t... I>
constexpr bool takes_exprs(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, nth_expr<I>...>;
}

/// Calls `f`, a generic lambda, with one expression for each part of the argument, if `f` takes
/// that number of parameters. Tries the numbers from `N` to `most_parameters` one after the other.
template <size_t N, class F>
function call_generic(tracing&& trace, const expr_structure& argument, F& f) {
  if constexpr (N > most_parameters) {
    trace.wrong_arity();
  } else {
    if constexpr (takes_exprs<F>(std::make_index_sequence<N>{}))
      if (N == argument.size())
        return [&]<size_t... I>(std::index_sequence<I...>) {
          return std::move(trace).finish(std::invoke(f, argument.child(I).single()...));
        }
    (std::make_index_sequence<N>{});
    return call_generic<N + 1>(std::move(trace), argument, f);
  }
}

} // namespace detail

/// Traces `f` for elements of spec `argument`: calls `f` once with expressions that stand for the
/// element, and returns the function that `f` computed with them.
///
/// `f` takes one parameter for each part of the element at the top level, or the whole element as
/// one `expr_structure` (a named part is then `r["image"]`). The parameter for a part is an `expr`;
/// it must have the type `expr_structure` for a part that is itself nested, `dataset` for a part
/// that is a dataset, and `ragged` for a ragged tensor. `f` returns an `expr` (or a C++ value), a
/// std::tuple or pair of these (which may be nested), an `expr_structure`, or a dataset. Assertions
/// that `f` makes (debugging.hpp) are checked whether `f` uses their results or not. Throws `error`
/// if `f` takes another number of parameters. Exceptions of `f` are not caught.
template <class F>
detail::function trace(const element_spec& argument, F&& f) {
  const detail::assertion_scope assertions;
  detail::tracing call{argument};
  const auto whole = call.argument();
  if constexpr (detail::has_signature<std::remove_cvref_t<F>>) {
    using signature = detail::parameters<decltype(std::function{f})>;
    static_assert(signature::known, "the function's parameters must be `expr`s or datasets, one a "
                                    "component, or one `expr_structure`");
    if constexpr (signature::whole) {
      return std::move(call).finish(std::invoke(f, whole));
    } else {
      if (signature::count != whole.size())
        call.wrong_arity();
      return signature::call(std::move(call), whole, f);
    }
  } else {
    return detail::call_generic<1>(std::move(call), whole, f);
  }
}

} // namespace headrace
