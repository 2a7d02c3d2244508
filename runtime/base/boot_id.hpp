#pragma once

#include <string>

namespace headrace {

/// Equal in two processes if and only if they run on the same host since its last start: the
/// kernel's random boot id. If there is none, a random text, so that no process seems to be on the
/// same host.
const std::string& boot_id();

} // namespace headrace
