#pragma once

#include <cstdint>

namespace headrace::detail {

/// An `origin`, which describes consecutive rows, in the form in which links transfer it: see
/// `Block.origins` in schemas/block.capnp.
struct origin_record {
  uint32_t rows, source;
  uint64_t pass, split, step;
};
static_assert(sizeof(origin_record) == 32);

} // namespace headrace::detail
