#pragma once

#include "headrace/client/service_status.hpp"
#include "python.hpp"

namespace headrace::python {

/// What a status has, as a dict by the names of its fields, and so what is in it. Ids are text, in
/// hexadecimal digits; times are in seconds.
nb::dict to_python(const service_status& x);
nb::object to_python(const save_status& x);

} // namespace headrace::python
