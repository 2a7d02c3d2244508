#pragma once

#include "headrace/pipeline/engine/engine.hpp"

namespace headrace::detail {

/// What an operator's opener gives (`operator_record::open`).
using opened = result<std::unique_ptr<iterator>>;

} // namespace headrace::detail
