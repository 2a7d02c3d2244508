#pragma once

#include <cstdint>

namespace headrace::detail::command {

/// The port on which a server listens for HTTP.
struct web_port {
  enum class choice : uint8_t {
    off,
    automatic, ///< `first_port`, or any free port if the server cannot listen there
    given,
  };
  static constexpr uint16_t first_port = 5051;
  choice how = choice::automatic;
  uint16_t port = 0; ///< the given port; 0: any free one
  friend bool operator==(const web_port&, const web_port&) = default;
};

} // namespace headrace::detail::command
