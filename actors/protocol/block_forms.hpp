#pragma once

#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/types/block.hpp"
#include "headrace/runtime/message/message.hpp"

#include <memory>
#include <vector>

namespace headrace::detail {

/// An encoded block as it is sent over links, without the fields that differ between streams.
struct written_block {
  message<schema::Block> about;
  std::vector<buffer> payload;
  /// The bytes that the encoding takes in addition to those of the block.
  size_t own_bytes = 0;
};

/// Encodes a block.
std::shared_ptr<const written_block> write_form(const block& rows, block_encoding encoding);

/// The encodings of one block that is sent on several streams. Each encoding is made once.
class block_forms {
public:
  virtual ~block_forms() = default;
  /// Returns the block `rows` in that encoding, which is made at the first call for it.
  virtual std::shared_ptr<const written_block> written(const block& rows,
                                                       block_encoding encoding) = 0;
};

} // namespace headrace::detail
