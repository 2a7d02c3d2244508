#pragma once

#include <string>

namespace headrace::detail {

/// The kernel's random boot id. Two processes have equal ids if and only if they run on the same
/// host and it was not restarted between them. If the kernel has no boot id, a random text is used,
/// so that no other process seems to be on the same host.
const std::string& boot_id();

} // namespace headrace::detail
