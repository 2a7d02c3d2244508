#pragma once

#include "headrace/runtime/base/status.hpp"
#include "headrace/schemas/failure.capnp.h"

namespace headrace::detail {

/// @pre `!why.ok()`
void write_failure(schema::Failure::Builder out, const status& why);
/// A code that this build does not define is read as `unknown`.
status read_failure(schema::Failure::Reader in);

} // namespace headrace::detail
