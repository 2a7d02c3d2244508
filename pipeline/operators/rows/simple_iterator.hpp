#pragma once

#include "headrace/pipeline/engine/open.hpp"

namespace headrace::detail {

/// Opens an operator with one input, whose iterator is made from (engine, node, input).
template <class Iterator>
opened open_over_input(engine& shared, const dataset_ptr& node, const place& at) {
  HEADRACE_ASSIGN(auto input, shared.make_input(node, at));
  return std::unique_ptr<iterator>{std::make_unique<Iterator>(shared, *node, std::move(input))};
}

} // namespace headrace::detail
