#pragma once

#include <string>

namespace headrace::detail::test {

/// A member of a tar file: its header, and its content padded to whole blocks.
std::string tar_member(const std::string& name, const std::string& content, char type = '0');
/// The end of a tar file.
std::string tar_end();

} // namespace headrace::detail::test
