#pragma once

#include "python.hpp"

#include <string_view>

namespace headrace::detail::python {

/// A string of an element as tf.data's iterators give them: bytes that are equal to the str with
/// this UTF-8, too (Python's `headrace._core.String`). Takes as long to make as bytes do.
nb::object string_value(std::string_view text);

/// Adds the class to the module.
void bind_string_value(nb::module_& m);

} // namespace headrace::detail::python
