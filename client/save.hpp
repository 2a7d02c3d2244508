#pragma once

#include "headrace/client/dataset.hpp"

#include <optional>
#include <string>

namespace headrace {

/// What `dataset::save` does, with a say in how the elements are read: which functions there are,
/// for one. `shard` gives the number of an element's file; without it there is one.
void save_elements(const dataset& what, const std::string& folder, std::optional<function> shard,
                   const save_options& options, const iterate_options& reading);

} // namespace headrace
