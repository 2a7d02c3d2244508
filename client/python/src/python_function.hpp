#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/pipeline/iterator/ports.hpp"
#include "python.hpp"

#include <functional>
#include <set>
#include <string>

namespace headrace::detail::python {

/// Returns a finder of the Python functions that graphs call. They run in processes of `pool`, a
/// Pool, or of this process's own pool if `pool` is None (see headrace/_processes/python.py). The
/// finder also finds the C++ functions of loaded plug-ins, and throws `error` (not_found) for other
/// names. It may be called and destroyed without the GIL.
function_finder python_functions(nb::object pool = nb::none());

/// The programs (shipped forms) of the Python functions that a graph calls, including calls in
/// datasets that functions of the graph make.
std::set<std::string> python_programs(const dataset_node& graph);

} // namespace headrace::detail::python
