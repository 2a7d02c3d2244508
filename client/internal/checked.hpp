#pragma once

#include "headrace/client/dataset.hpp"

#include <memory>
#include <utility>

namespace headrace::detail {

/// The dataset that the engine made; throws `error` if it could not.
inline dataset checked(result<dataset_ptr> made) { return dataset{std::move(made).value()}; }

/// Makes a function shared, as the nodes of a graph hold it.
inline function_ptr shared(function f) { return std::make_shared<const function>(std::move(f)); }

} // namespace headrace::detail
