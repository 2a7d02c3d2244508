#pragma once

#include <string>

namespace headrace {

/// A function that a graph calls and does not contain as expressions.
struct function_reference {
  /// The identity of the function in the processes that run the graph: the name under which it is
  /// registered there. `python`: Python makes it of `program`.
  std::string name;
  /// A text for users, such as the name in the user's program; may be empty.
  std::string label = {};
  /// The bytes of which the function is made; empty: the function is registered.
  std::string program = {};

  bool empty() const noexcept { return name.empty(); }
  friend bool operator==(const function_reference&, const function_reference&) = default;
};

/// A text for messages: the name, or `name:label`. At most 200 bytes.
std::string to_string(const function_reference& x);

} // namespace headrace
