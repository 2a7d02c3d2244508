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

/// Makes one element of another. A failure is the error of that element alone.
struct element_function {
  element_spec takes;
  element_spec gives; ///< what a dataset that calls it must declare
  std::function<status(const element& in, element_output& out)> call;
};

/// Gives `f(state, arguments ...)` for a state that `set_up` makes before the first call: once for
/// all calls in a worker or program. Where calls run in parallel, they share it. A `set_up` that
/// fails fails every call.
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

/// The C++ functions that graphs may call by name: those of a program, and of plug-ins. Add all
/// before it is used; then it is thread-safe. Functions may be called by several threads at a time,
/// and must own what they use, as `named_function` tells.
class function_registry {
public:
  /// Over blocks: as many rows as there are, each of them what the row of that number becomes; rows
  /// that failed are errors again. `already_exists` if the name is taken.
  status add(std::string name, named_function f);
  /// Over single elements.
  status add(std::string name, element_function f);

  /// Adds the functions of a shared library made with `HEADRACE_PLUGIN`, which stays loaded as long
  /// as the process lives. Errors name the file: `not_found`, `failed_precondition` if it is no
  /// plug-in or was built for another headrace, `already_exists` for a function that is there
  /// already.
  status load_plugin(const std::string& file);

  /// `not_found` tells what there is.
  result<named_function> find(const std::string& name) const;
  /// For `iterate_options`, `worker_server_options` and the like; keeps `functions` alive. Throws
  /// `error` (not_found) for a name that is not there.
  static std::function<named_function(const std::string&)>
  finder(std::shared_ptr<const function_registry> functions);

private:
  struct entry {
    named_function call;
    std::string from; ///< file of the plug-in; empty: the program
  };
  std::map<std::string, entry> functions_;
  std::string loading_; ///< the plug-in that is adding its functions
};

} // namespace headrace
