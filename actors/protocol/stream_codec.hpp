#pragma once

/// Between what streams say as plain structs and the messages of stream.capnp on a link.

#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/pipeline/types/spec.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link.hpp"

#include <vector>

namespace headrace {

/// What a consumer said. data_loss: the bytes are no such message; unimplemented: a message, or a
/// value in it, that this build does not know, named by its number.
result<from_consumer> read_from_consumer(const link_message& in);
/// What a task said, blocks of rows of `components` decoded. Errors as above; data_loss also for a
/// block that does not fit, unless it came from this process: invalid_argument.
result<from_task> read_from_task(const link_message& in,
                                 const std::vector<tensor_spec>& components);

link_message write_message(uint32_t channel, const from_consumer& what);
/// Blocks are written plain, see `write_block`.
link_message write_message(uint32_t channel, const from_task& what);
/// Rows as they lie in memory, for a link that is `in_process`.
link_message share_block(uint32_t channel, const stream_block& what);
/// `packed`: with snappy.
link_message write_block(uint32_t channel, const stream_block& what, bool packed);

} // namespace headrace
