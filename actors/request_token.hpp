#pragma once

#include "headrace/runtime/base/ids.hpp"

namespace headrace {

/// Names a request that a core has to answer. The actor gives each request another one and keeps,
/// under it, to whom the answer goes; nobody else reads anything out of it.
using request_token = strong_id<struct request_token_tag>;

} // namespace headrace
