#pragma once

/// Converts between the structs of stream_messages.hpp and messages of stream.capnp on a link.

#include "headrace/actors/protocol/stream_messages.hpp"
#include "headrace/pipeline/types/spec.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/link/link.hpp"

#include <optional>
#include <vector>

namespace headrace::detail {

/// Reads a consumer's message. data_loss: the bytes are not a valid message; unimplemented: the
/// message, or a value in it, is one that this build does not define; the error has its number.
result<from_consumer> read_from_consumer(const link_message& in);
/// Reads a task's message, and decodes its block, whose rows must have these `components`. Errors
/// are as above. invalid_argument: the block has other components. resource_exhausted: the block is
/// too large when it is decompressed.
result<from_task> read_from_task(const link_message& in,
                                 const std::vector<tensor_spec>& components);
/// As `read_from_task`, but returns nullopt for a compressed block, which takes long to decode.
result<std::optional<from_task>> read_plain_from_task(const link_message& in,
                                                      const std::vector<tensor_spec>& components);

link_message write_message(uint32_t channel, const from_consumer& what);
/// Blocks are written uncompressed, see `write_block`.
link_message write_message(uint32_t channel, const from_task& what);
/// Passes the block in memory, without encoding it, for a link that is `in_process`.
link_message share_block(uint32_t channel, const stream_block& what);
/// `packed`: the block is compressed with snappy.
link_message write_block(uint32_t channel, const stream_block& what, bool packed);

} // namespace headrace::detail
