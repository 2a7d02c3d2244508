#pragma once

#include "headrace/client/service_status.hpp"
#include "python.hpp"

namespace headrace::detail::python {

/// A status as a dict with the names of its fields; nested structs are dicts, too. Ids are
/// hexadecimal text; times are in seconds.
nb::dict to_python(const service_status& x);
nb::object to_python(const save_status& x);

} // namespace headrace::detail::python
