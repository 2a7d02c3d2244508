#pragma once

#include "headrace/pipeline/engine/engine.hpp"

namespace headrace::detail {

/// The result of an operator's function `open` (`operator_record::open`).
using opened = result<std::unique_ptr<iterator>>;

} // namespace headrace::detail
