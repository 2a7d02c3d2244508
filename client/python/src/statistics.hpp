#pragma once

#include "python.hpp"

#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/explain/statistics.hpp"

namespace headrace::detail::python {

/// The counters for an iteration over `graph`. `measured`: a tuple (Statistics, prefix of names,
/// true if all operators are measured), or None if nothing is measured.
counters_of counters_in(nb::handle measured, const dataset& graph);

} // namespace headrace::detail::python
