#pragma once

#include "headrace/pipeline/graph/expr_node.hpp"
#include "headrace/runtime/base/result.hpp"

#include <span>

/// The shapes of the results of functions that only move values. Extents of the inputs may be
/// unknown; then the extents of the result that depend on these are unknown, too.
namespace headrace::detail::movement {

result<shape> reshape(const expr_attrs& attrs, const shape& in);
result<shape> stack(const expr_attrs& attrs, std::span<const shape> inputs);
result<shape> concat(const expr_attrs& attrs, std::span<const shape> inputs);
result<shape> transpose(const expr_attrs& attrs, const shape& in);
result<shape> expand_dims(const expr_attrs& attrs, const shape& in);
result<shape> squeeze(const expr_attrs& attrs, const shape& in);
result<shape> fill(const expr_attrs& attrs, const shape& in);
result<shape> tile(const expr_attrs& attrs, const shape& in);
result<shape> pad(const expr_attrs& attrs, const shape& in, const shape& filler);
result<shape> roll(const expr_attrs& attrs, const shape& in);
result<shape> gather(const expr_attrs& attrs, const shape& in, const shape& indices);

} // namespace headrace::detail::movement
