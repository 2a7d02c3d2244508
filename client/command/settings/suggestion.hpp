#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail::command {

/// The name that is most similar to `word`, at most two edits away (one for short words); empty if
/// there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

} // namespace headrace::detail::command
