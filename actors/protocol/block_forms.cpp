#include "headrace/actors/protocol/block_forms.hpp"

#include <algorithm>
#include <array>

namespace headrace::detail {

namespace {

/// True if `part` lies in one of the block's own buffers.
bool shares(const block& rows, const buffer& part) {
  const auto within = [&](const auto& self, const column& c) -> bool {
    if (c.is_nested()) {
      for (size_t i = 0; i < c.rows(); ++i)
        if (self(self, c.nested_row(i)))
          return true;
      return false;
    }
    return std::ranges::any_of(
      std::array{&c.value_buffer(), &c.border_buffer(), &c.row_start_buffer(), &c.row_dim_buffer()},
      [&](const buffer* x) { return x->owner() != nullptr && x->owner() == part.owner(); });
  };
  return std::ranges::any_of(rows.columns, [&](const column& c) { return within(within, c); });
}

} // namespace

std::shared_ptr<const written_block> write_form(const block& rows, block_encoding encoding) {
  auto out = std::make_shared<written_block>();
  out->about = message<schema::Block>::make(
    [&](schema::Block::Builder b) { encode_block(rows, encoding, b, out->payload); });
  out->own_bytes = out->about.size_bytes();
  for (auto& part : out->payload)
    if (!shares(rows, part)) {
      // Compressed bytes lie in a buffer that is larger than their size, so a copy saves memory.
      part = buffer::copy_of(part.data(), part.size());
      out->own_bytes += part.size();
    }
  return out;
}

} // namespace headrace::detail
