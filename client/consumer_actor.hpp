#pragma once

/// With this header, a program that has an actor system of its own (CAF) gets elements of a service
/// as messages. It is the only header for programs that includes the actor framework.

#include "headrace/client/dataset.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/caf/error.hpp"
#include "headrace/runtime/link/link_liveness.hpp"
#include "headrace/runtime/log/logger.hpp"
#include "headrace/runtime/message/local.hpp"

#include <memory>
#include <type_traits>

namespace headrace {

/// The answer of a consumer actor: consecutive elements, or the end.
struct consumed {
  std::shared_ptr<const block> rows; ///< the elements in columns; null at the end
  std::shared_ptr<const element_spec> spec;

  /// True at the end.
  bool over() const noexcept { return !rows; }
  size_t size() const noexcept { return rows ? rows->rows : 0; }
  /// The error of element `row`; null if it did not fail. A failed element has no values.
  const status* error_at(size_t row) const noexcept { return rows->error_at(row); }
  element operator[](size_t row) const noexcept { return {rows, spec, row}; }
};

/// The first type id of the message types below. headrace uses the 300 ids from CAF's first custom
/// type id on.
inline constexpr auto consumer_first_type_id =
  static_cast<std::remove_const_t<decltype(caf::first_custom_type_id)>>(caf::first_custom_type_id
                                                                        + 200);

} // namespace headrace

CAF_BEGIN_TYPE_ID_BLOCK(headrace_client, headrace::consumer_first_type_id)
CAF_ADD_TYPE_ID(headrace_client, (headrace::local<headrace::consumed>))
// Requests elements from a consumer actor.
CAF_ADD_ATOM(headrace_client, headrace::atom, more, "more")
// A message that a consumer actor sends itself when there may be elements for an answer.
CAF_ADD_ATOM(headrace_client, headrace::atom, arrived, "arrived")
CAF_END_TYPE_ID_BLOCK(headrace_client)

namespace headrace {

/// Reads one repetition of a job.
///
/// `(more, n)` is answered with 1 to `n` elements as soon as there are some, with the end, or with
/// an error if the service failed; requests after that get the end. Requests are answered in order,
/// each once. So a requester is sent no more elements than it requested. The actor requests further
/// elements from workers in advance, as many as `distribute`'s options allow; only those in answers
/// count as handed out. The consumer actor ends when its last handle is destroyed, or when it is
/// requested to end. Elements that it had not handed out go to the job's other consumers.
using consumer_actor = port::handle<caf::result<local<consumed>>(atom::more, uint64_t)>;

/// Adds networking and message types for consumers to the configuration of an actor system. To be
/// called before the system starts. With `tls`, all connections of the system use mutual TLS.
/// Throws `error` if the files are unusable.
void configure_consumers(caf::actor_system_config& config, const tls_options& tls = {});

struct consumer_host_options {
  tls_options tls; ///< the options that were passed to `configure_consumers`
  /// The times after which a silent data link to a worker is closed and opened again.
  link_liveness liveness;
  logger log;
};

/// The connections of an actor system's consumers. The destructor ends the consumers; the object
/// must be destroyed before the system.
class consumer_host {
public:
  /// @pre the system was prepared with `configure_consumers`
  explicit consumer_host(caf::actor_system& system, consumer_host_options options = {});
  ~consumer_host();
  consumer_host(const consumer_host&) = delete;
  consumer_host& operator=(const consumer_host&) = delete;

  /// Starts to read `what`. The last operator of `what` must be `distribute`, because a consumer
  /// actor runs no operators itself; otherwise throws `error` (invalid_argument). Returns at once,
  /// even if the service cannot be reached: then the first answer of the actor is an error.
  consumer_actor spawn(const dataset& what);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace headrace
