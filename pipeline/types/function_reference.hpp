#pragma once

#include <memory>
#include <string>

namespace headrace {

/// A function that a graph calls and does not contain as expressions.
struct function_reference {
  /// The identity of the function in the processes that run the graph: the name under which it is
  /// registered there. `python`: Python makes it of `program`.
  std::string name;
  /// A text for users, such as the name in the user's program; may be empty.
  std::string label = {};
  std::string program = {}; ///< bytes of which the function is made; empty: it is registered
  /// For `python`: the object of which the function was made in this process; it is kept alive as
  /// long as the graph. Null: the graph came from another process. Neither compared nor encoded.
  std::shared_ptr<const void> origin = {};

  bool empty() const noexcept { return name.empty(); }
  friend bool operator==(const function_reference& a, const function_reference& b) noexcept {
    return a.name == b.name && a.label == b.label && a.program == b.program;
  }
};

/// A text for messages: the name, or `name:label`. At most 200 bytes.
std::string to_string(const function_reference& x);

} // namespace headrace
