#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/schemas/dispatcher.capnp.h"

namespace headrace {

/// @pre `!why.ok()`
void write_failure(schema::FailureText::Builder out, const status& why);
/// A code that this build does not know reads as `unknown`.
status read_failure(schema::FailureText::Reader in);

} // namespace headrace
