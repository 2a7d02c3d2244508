#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "python.hpp"

#include <functional>
#include <set>
#include <string>

namespace headrace::python {

/// Finds the Python functions that graphs call by name: they run in processes beside this one (see
/// headrace/_python.py), those of `pool`, a Pool, or of the whole process if it is None; and the
/// C++ functions of the plug-ins that the process loaded. Throws `error` (not_found) for other
/// names. What it gives may be called, and dropped, without the GIL.
std::function<named_function(const std::string&)> python_functions(nb::object pool = nb::none());

/// The names by which a graph calls functions, those of its functions' datasets among them.
std::set<std::string> function_names(const dataset_node& graph);

} // namespace headrace::python
