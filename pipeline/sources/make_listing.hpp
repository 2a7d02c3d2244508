#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

namespace headrace::detail {

/// A listing of these entries, one for each file or the like, in the order of their numbers.
std::shared_ptr<const split_listing> make_listing(std::vector<std::string> entries);

} // namespace headrace::detail
