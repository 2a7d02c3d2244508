#pragma once

#include "headrace/actors/protocol/save_messages.hpp"
#include "headrace/client/service_status.hpp"

namespace headrace::detail::service {

/// The state of a save, for users.
inline save_status to_public(const save_view& x) {
  constexpr const char* names[] = {"planning", "writing", "finishing", "saved", "failed"};
  return {.save = x.id.value,
          .version = x.version,
          .path = x.path,
          .dataset = x.dataset_id,
          .state = names[static_cast<size_t>(x.state)],
          .pieces = x.pieces,
          .written = x.written,
          .elements = x.amount.rows,
          .bytes = x.amount.bytes,
          .workers = x.workers,
          .failure = x.failure,
          .whole_because = x.whole_because};
}

} // namespace headrace::detail::service
