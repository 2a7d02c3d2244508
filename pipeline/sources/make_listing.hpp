#pragma once

#include "headrace/pipeline/iterator/ports.hpp"

namespace headrace::detail {

/// A listing with these entries, for example one text for each file, in the order in which the
/// splits are numbered.
std::shared_ptr<const split_listing> make_listing(std::vector<std::string> entries);

} // namespace headrace::detail
