#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "python.hpp"

#include <functional>
#include <set>
#include <string>

namespace headrace::detail::python {

/// Finds the Python functions that graphs call: they run in processes of `pool`, a Pool, or
/// of the process's own pool if it is None (see headrace/_processes/python.py). It also finds the
/// C++ functions of loaded plug-ins. Throws `error` (not_found) for other names. The result may be
/// called and destroyed without the GIL.
function_finder python_functions(nb::object pool = nb::none());

/// The programs of the Python functions that a graph calls, including those in its functions'
/// datasets.
std::set<std::string> python_programs(const dataset_node& graph);

} // namespace headrace::detail::python
