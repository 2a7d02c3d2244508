#pragma once

#include "headrace/runtime/base/result.hpp"

#include <string>
#include <string_view>

namespace headrace::detail::command {

/// The address of the first running pod, by name, that a label selector matches.
///
/// The API server is the one that Kubernetes names in the environment of this program's pod
/// (KUBERNETES_SERVICE_HOST and _PORT), with the files of the pod's service account: token, CA and
/// namespace. The variable KUBERNETES_API names another server (`http://127.0.0.1:8001` for
/// `kubectl proxy`; without TLS no token is sent), and KUBERNETES_ACCOUNT another folder of files.
///
/// Returns `unavailable` if no such pod runs, or the API server does not answer. Other errors name
/// the variable, file or answer that is missing or wrong.
result<std::string> running_pod(std::string_view selector);

} // namespace headrace::detail::command
