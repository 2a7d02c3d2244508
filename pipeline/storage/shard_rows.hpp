#pragma once

#include "headrace/pipeline/storage/saved_writer.hpp"

namespace headrace::detail {

/// Writes row i of `rows` into shard `shards[i]`. @pre `shards` has an int64 scalar for each row,
/// and no row is an error row
status write_sharded(saved_writer& to, const block& rows, const column& shards,
                     uint64_t& kernel_calls);

} // namespace headrace::detail
