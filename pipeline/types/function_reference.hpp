#pragma once

#include <string>

namespace headrace {

/// A function that a graph calls and does not contain as expressions.
struct function_reference {
  /// Its identity in the processes that run the graph: the name under which it is registered there.
  /// `python`: it is made of `program` by Python.
  std::string name;
  /// For people, such as the name in the user's program; may be empty.
  std::string label = {};
  std::string program = {}; ///< bytes of which the function is made; empty: it is registered

  bool empty() const noexcept { return name.empty(); }
  friend bool operator==(const function_reference&, const function_reference&) = default;
};

/// For messages: the name, or `name:label`. At most 200 bytes.
std::string to_string(const function_reference& x);

} // namespace headrace
