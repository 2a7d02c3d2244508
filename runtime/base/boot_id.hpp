#pragma once

#include <string>

namespace headrace::detail {

/// The kernel's random boot id, which is equal in two processes if and only if they run on the same
/// host since its last start. If the kernel has none, a random text is used, so that no other
/// process seems to be on the same host.
const std::string& boot_id();

} // namespace headrace::detail
