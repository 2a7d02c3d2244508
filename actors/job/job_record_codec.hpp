#pragma once

#include "headrace/actors/job/job_record.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"

#include <vector>

namespace headrace::detail {

/// Reads and writes a job's facts and state as messages of job_record.capnp.
template <>
struct record_codec<job_record> {
  using fact = job_record::fact;
  static buffer write_facts(const std::vector<fact>& group);
  static result<std::vector<fact>> read_facts(const buffer& bytes);
  static buffer write_state(const job_record& what);
  /// @pre `empty` has no repetitions, and the id, mode and plan of the job that wrote the state.
  static result<job_record> read_state(const buffer& bytes, job_record empty);
};

} // namespace headrace::detail
