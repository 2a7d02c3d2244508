#pragma once

#include "headrace/pipeline/iterator/position.hpp"
#include "headrace/runtime/base/buffer.hpp"

namespace headrace {

/// A position with what else an iteration needs to go on elsewhere.
struct saved_iteration {
  std::string graph; ///< its fingerprint
  uint64_t seed = 0; ///< as in `iterator_context`
  uint64_t repetition = 0;
  resume_point point;
};

/// No record is larger.
inline constexpr size_t most_record_bytes = size_t{1} << 20;

/// As bytes (schemas/position.capnp), with a checksum. Fails if something in the graph has no
/// position that can be saved, saying what; `resource_exhausted` if the record would be larger than
/// `most_record_bytes`, naming the operator.
result<buffer> encode_iteration(const saved_iteration& x);

/// `data_loss` for damaged bytes, `failed_precondition` for records of another version.
result<saved_iteration> decode_iteration(const buffer& record);
/// The same; `failed_precondition` also for a record of another graph than that of this
/// fingerprint.
result<saved_iteration> decode_iteration(const buffer& record, const std::string& graph);

} // namespace headrace
