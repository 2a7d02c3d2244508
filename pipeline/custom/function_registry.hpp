#pragma once

#include "headrace/pipeline/custom/element_output.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/types/element.hpp"

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace headrace {

/// A function that makes one element from one element. If it fails, only the result for that
/// element is an error row.
struct element_function {
  element_spec takes;
  /// The spec of the results. The spec that the calling dataset declares must accept this spec.
  element_spec gives;
  std::function<status(const element& in, element_output& out)> call;
};

/// Returns a function that calls `f(state, arguments ...)` with its own arguments. `set_up` makes
/// the state before the first call, once for all calls in a worker or program; parallel calls share
/// it. If `set_up` fails, every call fails.
template <class State, class F>
auto with_set_up(std::function<result<std::shared_ptr<State>>()> set_up, F f) {
  struct once {
    std::once_flag flag;
    std::function<result<std::shared_ptr<State>>()> make;
    result<std::shared_ptr<State>> made = unavailable("not set up");
  };
  auto shared = std::make_shared<once>();
  shared->make = std::move(set_up);
  return [shared, f = std::move(f)](
           const auto& in, auto&... out) -> decltype(f(std::declval<State&>(), in, out...)) {
    std::call_once(shared->flag, [&] { shared->made = shared->make(); });
    if (!shared->made)
      return shared->made.status().with_context("set-up");
    return f(**shared->made, in, out...);
  };
}

/// The C++ functions that graphs may call by name: those of a program, and those of plug-ins. The
/// registry is thread-safe once all functions are added. A function may be called by several
/// threads at a time, and must own the data that it uses; see `named_function`.
class function_registry {
public:
  /// Adds a function over blocks. The function must return a block of as many rows, with row i made
  /// of row i of its argument; error rows stay error rows. `already_exists`: the name is in use.
  status add(std::string name, named_function f);
  /// Adds a function over single elements.
  status add(std::string name, element_function f);

  /// Adds the functions of a shared library made with `HEADRACE_PLUGIN`, which stays loaded until
  /// the process ends. Errors name the file: `not_found`, `failed_precondition` if it is not a
  /// plug-in or was built for another version of headrace, `already_exists` if one of its functions
  /// has the name of another function.
  status load_plugin(const std::string& file);

  /// Returns the function with the name in `what`. The error `not_found` lists all names.
  result<named_function> find(const function_reference& what) const;
  /// A value for the member `find_function` of options. It keeps `functions` alive, and throws
  /// `error` (not_found) for an unknown name.
  static function_finder finder(std::shared_ptr<const function_registry> functions);

private:
  struct entry {
    named_function call;
    std::string from; ///< the plug-in's file; empty: the program
  };
  std::map<std::string, entry> functions_;
  std::string loading_; ///< the plug-in whose functions are being added
};

} // namespace headrace
