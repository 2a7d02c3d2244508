#pragma once

/// For programs that have an actor system of their own (CAF): elements of a service as messages.
/// The one header for programs that includes the actor framework.

#include "headrace/client/dataset.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/caf/error.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/message/local.hpp"

#include <memory>
#include <type_traits>

namespace headrace {

/// What a consumer actor answers: a run of elements, or the end.
struct consumed {
  std::shared_ptr<const block> rows; ///< in columns; null at the end
  std::shared_ptr<const element_spec> spec;

  /// Nothing comes any more.
  bool over() const noexcept { return !rows; }
  size_t size() const noexcept { return rows ? rows->rows : 0; }
  /// Why element `row` failed; null if it did not. Who fails has no values.
  const status* error_at(size_t row) const noexcept { return rows->error_at(row); }
  element operator[](size_t row) const noexcept { return {rows, spec, row}; }
};

/// Where the numbers of its message types begin; those below 300 past the first custom one are
/// headrace's.
inline constexpr auto consumer_first_type_id =
  static_cast<std::remove_const_t<decltype(caf::first_custom_type_id)>>(caf::first_custom_type_id
                                                                        + 200);

} // namespace headrace

CAF_BEGIN_TYPE_ID_BLOCK(headrace_client, headrace::consumer_first_type_id)
CAF_ADD_TYPE_ID(headrace_client, (headrace::local<headrace::consumed>))
// Asks a consumer actor for elements.
CAF_ADD_ATOM(headrace_client, headrace::atom, more, "more")
// A consumer actor's own: there may be something to answer with.
CAF_ADD_ATOM(headrace_client, headrace::atom, arrived, "arrived")
CAF_END_TYPE_ID_BLOCK(headrace_client)

namespace headrace {

bool announce_consumer_types();
inline const bool consumer_types_known = announce_consumer_types();

/// Reads one repetition of a job. `(more, n)` is answered with at most `n` elements (one at least)
/// as soon as there are some, with the end, or with an error if the service failed; after that with
/// the end. Requests are answered in order, each once: as many elements are on their way to an
/// actor as it asked for, and what waits for its next request is bounded by `distribute`'s options.
/// Only what was answered counts as handed out. It ends with its last handle, or when it is asked
/// to: what it had not handed out goes to the job's other consumers.
using consumer_actor = port::handle<caf::result<local<consumed>>(atom::more, uint64_t)>;

/// Prepares an actor system for consumers: networking and message types. Call it in your
/// configuration before the system starts. With `tls` all its connections are mutual TLS. Throws
/// `error` for unusable files.
void configure_consumers(caf::actor_system_config& config, const tls_options& tls = {});

struct consumer_host_options {
  tls_options tls; ///< as given to `configure_consumers`
  /// When a data link to a worker that gives no sign of life is given up, and opened again.
  link_liveness liveness;
  logger log;
};

/// The place of consumers in an actor system: their connections. Ends them when it is destroyed,
/// which is before the system is.
class consumer_host {
public:
  /// @pre the system was prepared with `configure_consumers`
  explicit consumer_host(caf::actor_system& system, consumer_host_options options = {});
  ~consumer_host();
  consumer_host(const consumer_host&) = delete;
  consumer_host& operator=(const consumer_host&) = delete;

  /// Starts to read `what`, whose last operator is `distribute`: what would follow it is for the
  /// actor that asks. Returns at once, also if the service is not there: the first answer says so.
  /// Throws `error` (invalid_argument) for another dataset.
  consumer_actor spawn(const dataset& what);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace
