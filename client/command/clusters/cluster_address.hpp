#pragma once

#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace headrace::detail::command {

/// True for an address that is resolved by a cluster manager: `tf-config:[JOB]`, `slurm:[PORT]` or
/// `kubernetes:SELECTOR[:PORT]`. The part after the scheme is checked when the address is resolved.
bool is_cluster_address(std::string_view text);

/// The present `host:port` of the dispatcher for `text`, a cluster address.
///
/// `tf-config:` is the first task of JOB (default: `dispatcher`) in the variable TF_CONFIG.
/// `slurm:` is the first node of the job step or job, at PORT (default: 5050). `kubernetes:` is the
/// first running pod, by name, that SELECTOR matches in the namespace of the pod in which this
/// process runs, at PORT.
///
/// Returns `unavailable` if a later call may succeed: no such pod runs, or the API server cannot be
/// reached. `failed_precondition` and `invalid_argument` name the variable, file or answer that is
/// missing or wrong.
result<std::string> resolve_cluster_address(std::string_view text);

/// As above, but the address is resolved again each second while the result is `unavailable`, for
/// at most `limit` (unset: without end); then the result is `deadline_exceeded`.
result<std::string> await_cluster_address(std::string_view text, std::optional<duration> limit,
                                          const logger& log);

} // namespace headrace::detail::command
