#pragma once

/// Converts enumerations of datasets and of the service to those of the schemas, and back. A value
/// from a peer that this build does not define results in `unimplemented`, with the value's number.

#include "headrace/pipeline/types/compression.hpp"
#include "headrace/pipeline/types/delivery_guarantee.hpp"
#include "headrace/pipeline/types/file_compression.hpp"
#include "headrace/pipeline/types/sharding_policy.hpp"
#include "headrace/pipeline/types/target_workers.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/compression.capnp.h"
#include "headrace/schemas/dataset.capnp.h"
#include "headrace/schemas/sharding.capnp.h"

#include <cstdint>
#include <string_view>

namespace headrace::detail {

/// The error for a value that this build does not define; `what` names its kind.
status unknown_value(std::string_view what, uint16_t number);

schema::ShardingPolicy to_schema(sharding_policy x);
result<sharding_policy> from_schema(schema::ShardingPolicy x);

schema::TargetWorkers to_schema(target_workers x);
result<target_workers> from_schema(schema::TargetWorkers x);

schema::Guarantee to_schema(delivery_guarantee x);
result<delivery_guarantee> from_schema(schema::Guarantee x);

schema::Compression to_schema(compression x);
result<compression> from_schema(schema::Compression x);

schema::Files::Compression to_schema(file_compression x);
result<file_compression> from_schema(schema::Files::Compression x);

} // namespace headrace::detail
