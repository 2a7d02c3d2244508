#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "python.hpp"

#include <string>

namespace headrace::python {

/// The Python function that a graph calls by this name: it runs in processes beside this one (see
/// headrace/_python.py). Empty for names of others. May be called without the GIL.
named_function find_python_function(const std::string& name);

} // namespace headrace::python
