#pragma once

#include "headrace/client/dataset.hpp"

#include <memory>
#include <utility>

namespace headrace::detail {

/// What the engine made; throws `error` with what is wrong with it.
inline dataset checked(result<dataset_ptr> made) { return dataset{std::move(made).value()}; }

/// As the nodes of a graph hold their functions.
inline function_ptr shared(function f) { return std::make_shared<const function>(std::move(f)); }

} // namespace headrace::detail
