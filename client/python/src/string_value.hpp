#pragma once

#include "python.hpp"

#include <string_view>

namespace headrace::detail::python {

/// Makes a `headrace._core.String`, the Python object for a string of an element: bytes that also
/// compare equal to the str of which they are the UTF-8 encoding, as TensorFlow's string tensors
/// do. Making one takes as long as making bytes.
nb::object string_value(std::string_view text);

/// Adds the class `String` to the module.
void bind_string_value(nb::module_& m);

} // namespace headrace::detail::python
