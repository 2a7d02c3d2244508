#pragma once

#include "headrace/pipeline/iterator/position.hpp"
#include "headrace/runtime/base/buffer.hpp"

namespace headrace::detail {

/// A position with the other data that an iteration needs to continue elsewhere.
struct saved_iteration {
  std::string graph; ///< the fingerprint of the graph
  uint64_t seed = 0; ///< as in `iterator_context`
  uint64_t repetition = 0;
  resume_point point;
};

/// The most bytes of a record.
inline constexpr size_t most_record_bytes = size_t{1} << 20;

/// Encodes the iteration as bytes (schemas/position.capnp), with a checksum. An error names a part
/// of the graph whose position cannot be saved. `resource_exhausted`: the record would be larger
/// than `most_record_bytes`; the message names the operator that has most of the bytes.
result<buffer> encode_iteration(const saved_iteration& x);

/// `data_loss` for damaged bytes, `failed_precondition` for records of another version.
result<saved_iteration> decode_iteration(const buffer& record);
/// As above; also `failed_precondition` for a record of a graph with another fingerprint.
result<saved_iteration> decode_iteration(const buffer& record, const std::string& graph);

} // namespace headrace::detail
