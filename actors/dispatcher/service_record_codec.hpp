#pragma once

#include "headrace/actors/dispatcher/service_record.hpp"
#include "headrace/actors/store/record_codec.hpp"
#include "headrace/runtime/base/buffer.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/service_record.capnp.h"

#include <vector>

namespace headrace::detail {

/// Reads and writes a dispatcher's facts and state as messages of service_record.capnp.
template <>
struct record_codec<service_record> {
  using fact = service_record::fact;
  static buffer write_facts(const std::vector<fact>& group);
  static result<std::vector<fact>> read_facts(const buffer& bytes);
  static buffer write_state(const service_record& what);
  /// Copies graphs out of the bytes.
  static result<service_record> read_state(const buffer& bytes, service_record empty);

private:
  static status read_jobs(schema::ServiceState::Reader in, service_record& out);
  static status read_ended(schema::ServiceState::Reader in, service_record& out);
  /// Reads the dataset ids that are for one iteration each.
  static status read_passing(schema::ServiceState::Reader in, service_record& out);
};

} // namespace headrace::detail
