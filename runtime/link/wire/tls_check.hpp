#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/runtime/base/tls_options.hpp"

namespace headrace::detail {

/// Ok if a process can serve with these files: all three are named and can be read and parsed, the
/// key belongs to the certificate, and an authority in `ca_file` has signed the certificate. An
/// error names the file at fault and what would be valid. Options that are not enabled are ok.
status check_tls(const tls_options& options);

} // namespace headrace::detail
