#pragma once

#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/message/message.hpp"

#include <memory>
#include <vector>

namespace headrace {

/// A block as it goes over links, but for what each stream says of its own.
struct written_block {
  message<schema::Block> about;
  std::vector<buffer> payload;
  /// Bytes that it takes beside those of the block itself.
  size_t own_bytes = 0;
};

/// Encodes a block.
std::shared_ptr<const written_block> write_form(const block& rows, block_encoding encoding);

/// The written forms of one block that several streams are sent: each encoding is made once.
class block_forms {
public:
  virtual ~block_forms() = default;
  /// `rows`: the block, if it must be encoded.
  virtual std::shared_ptr<const written_block> written(const block& rows,
                                                       block_encoding encoding) = 0;
};

} // namespace headrace
