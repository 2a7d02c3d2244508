#pragma once

#include "headrace/client/dataset.hpp"

#include <optional>
#include <string>

namespace headrace::detail {

/// The implementation of `dataset::save`, with options for reading the elements, such as the
/// functions that graphs may call. `shard` returns the number of an element's file; without it
/// there is one file.
void save_elements(const dataset& what, const std::string& folder, std::optional<function> shard,
                   const save_options& options, const iterate_options& reading);

} // namespace headrace::detail
