#pragma once

#include "headrace/runtime/base/ids.hpp"

namespace headrace {

/// Names a request that an actor gave to its core, until the core commands the answer. Chosen by
/// the actor; a core only passes it on.
using request_token = strong_id<struct request_token_tag>;

} // namespace headrace
