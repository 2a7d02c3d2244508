#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <capnp/common.h>
#include <headrace/schemas/block.capnp.h>

namespace headrace::detail {

/// The encoding of a block's bytes on a link.
enum class block_encoding : uint8_t { plain, snappy };

/// Writes a description of `rows` into `out`, and appends the buffers of the columns to `segments`;
/// buffers that are not compressed are shared with the block. A buffer is compressed only if that
/// makes it smaller. Small buffers are stored in `out` itself.
void encode_block(const block& rows, block_encoding encoding, schema::Block::Builder out,
                  std::vector<buffer>& segments);

/// The block that `in` describes; `segments` that are not compressed are shared. Whatever bytes a
/// peer sends, a block that is returned is consistent and matches `expected`; otherwise `data_loss`
/// or `invalid_argument` names what does not match. `resource_exhausted`: compressed parts have
/// more than `most_bytes` bytes when they are decompressed.
result<block> decode_block(schema::Block::Reader in, std::span<const buffer> segments,
                           const std::vector<tensor_spec>& expected,
                           size_t most_bytes = size_t{8} << 30);

/// True if some buffer of a column is compressed. False for a damaged description.
bool is_compressed(schema::Block::Reader in);

} // namespace headrace::detail
