#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headrace::command {

/// The name that was probably meant by `word`: one at most two edits away (one for short words);
/// empty if there is none.
std::string nearest(std::string_view word, const std::vector<std::string>& names);

} // namespace headrace::command
