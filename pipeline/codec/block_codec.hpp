#pragma once

#include "headrace/pipeline/types/block.hpp"

#include <capnp/common.h>
#include <headrace/schemas/block.capnp.h>

namespace headrace {

/// How the bytes of a block go over a link.
enum class block_encoding : uint8_t { plain, snappy };

/// Describes `rows` in `out` and appends the column bytes to `segments`, sharing the block's own
/// buffers where they are not compressed. Compressed is only what becomes smaller. Few bytes go
/// into the header.
void encode_block(const block& rows, block_encoding encoding, schema::Block::Builder out,
                  std::vector<buffer>& segments);

/// The block that `in` describes, sharing `segments` where they are not compressed. Whatever a
/// hostile peer sends, a block that is returned is consistent in itself and fits `expected`; else
/// `data_loss` or `invalid_argument` says what does not fit. `most_bytes` bounds what compressed
/// parts may become.
result<block> decode_block(schema::Block::Reader in, std::span<const buffer> segments,
                           const std::vector<tensor_spec>& expected,
                           size_t most_bytes = size_t{8} << 30);

} // namespace headrace
