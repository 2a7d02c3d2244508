#pragma once

#include "headrace/client/dataset.hpp"

#include <memory>
#include <utility>

namespace headrace::detail {

/// The dataset that a maker returned; throws `error` if it returned an error.
inline dataset checked(result<dataset_ptr> made) { return dataset{std::move(made).value()}; }

/// Makes a function shared, for the nodes of a graph.
inline function_ptr shared(function f) { return std::make_shared<const function>(std::move(f)); }

} // namespace headrace::detail
