#pragma once

/// Reads and writes the registered datasets in service_record.capnp.

#include "headrace/actors/dispatcher/dataset_table.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/schemas/service_record.capnp.h"

namespace headrace::detail {

template <>
struct state_codec<dataset_table> {
  static void write(schema::ServiceState::Builder out, const dataset_table& what);
  /// Copies graphs and specs out of the message.
  static result<dataset_table> read(schema::ServiceState::Reader in);
};

} // namespace headrace::detail
