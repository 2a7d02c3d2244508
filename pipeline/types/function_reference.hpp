#pragma once

#include <memory>
#include <string>

namespace headrace {

/// A function that a graph calls and does not contain as expressions.
struct function_reference {
  /// The name under which the function is registered in the processes that run the graph; `python`
  /// for each function that Python makes from `program`.
  std::string name;
  /// A text for users, such as the name in the user's program; may be empty.
  std::string label = {};
  std::string program = {}; ///< the bytes from which the function is made; empty: see `name`
  /// If the name is `python`: the object in this process from which the function was made. It is
  /// kept alive as long as the graph. Null: the graph came from another process. This member is
  /// neither compared nor encoded.
  std::shared_ptr<const void> origin = {};

  bool empty() const noexcept { return name.empty(); }
  friend bool operator==(const function_reference& a, const function_reference& b) noexcept {
    return a.name == b.name && a.label == b.label && a.program == b.program;
  }
};

/// A text for messages: the name, or `name:label`. At most 200 bytes.
std::string to_string(const function_reference& x);

} // namespace headrace
