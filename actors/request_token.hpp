#pragma once

#include "headrace/runtime/base/ids.hpp"

namespace headrace::detail {

/// Identifies a request that a core has to answer. The actor draws a new token for each request,
/// and keeps the sender of the request under it; tokens have no other meaning.
using request_token = strong_id<struct request_token_tag>;

} // namespace headrace::detail
