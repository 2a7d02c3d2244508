#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headrace::command {

/// True for an address that a cluster manager has to be asked for: `tf-config:[JOB]`,
/// `slurm:[PORT]` or `kubernetes:SELECTOR[:PORT]`. What follows the scheme is checked when it is
/// resolved.
bool is_cluster_address(std::string_view text);

/// The `host:port` of the dispatcher that `text`, a cluster address, names now.
///
/// `tf-config:` is the first task of JOB (default: `dispatcher`) in the variable TF_CONFIG.
/// `slurm:` is the first node of the job step or job, at PORT (default: 5050). `kubernetes:` is the
/// first running pod by name that SELECTOR matches in the pod's own namespace, at PORT.
///
/// `unavailable` if the answer may be another one later: no such pod runs, or the API server cannot
/// be reached. `failed_precondition` and `invalid_argument` name the variable, file or answer that
/// is missing or wrong.
result<std::string> resolve_cluster_address(std::string_view text);

/// As above, but resolves again each second while the result is `unavailable`, for no longer than
/// `limit` (unset: without end); then `deadline_exceeded`.
result<std::string> await_cluster_address(std::string_view text, std::optional<duration> limit,
                                          const logger& log);

} // namespace headrace::command
