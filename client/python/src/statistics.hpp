#pragma once

#include "python.hpp"

#include "headrace/client/dataset.hpp"
#include "headrace/pipeline/explain/statistics.hpp"

namespace headrace::detail::python {

/// Counters for an iteration from Python: None, or (Statistics, prefix, all operators).
counters_of counters_in(nb::handle measured, const dataset& graph);

} // namespace headrace::detail::python
