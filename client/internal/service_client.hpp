#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/tls_options.hpp"
#include "headrace/runtime/log/logger.hpp"

#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

namespace headrace::detail {

class node;
struct service_session;

/// Blocking calls to a dispatcher, from the node of a session. Without an address they use
/// HEADRACE_SERVICE. Errors name the address.
namespace service {

/// A dispatcher, and the session in which it is called.
struct target {
  std::string address;                        ///< empty: HEADRACE_SERVICE
  std::shared_ptr<service_session> session{}; ///< null: the session of the process
};

/// The node of this process, which connects with these TLS files (or without TLS). Returns an error
/// if the node exists and connects in another way.
result<std::shared_ptr<node>> node_with(const tls_options& tls);

/// The log in which consumers and calls of this node write messages to users: the log of the node.
/// If that accepts no warnings: standard error if it is a terminal, else a log that drops all.
logger log_of(const node& here);

/// The address of a dispatcher: `given`, or the value of HEADRACE_SERVICE if `given` is empty. The
/// error (invalid_argument) names `argument` if neither is set, and the variable if its value is
/// not an address.
result<std::string> named(const std::string& given, std::string_view argument = "service");

/// The time limit for an answer of the dispatcher.
inline constexpr duration answer_limit = std::chrono::seconds{10};

/// How a call waits for a dispatcher that cannot be reached yet, or that cannot be reached for a
/// short time.
struct waiting {
  duration limit = std::chrono::seconds{60}; ///< the time limit for the answer
  std::string option = "timeout";            ///< the name of the limit, for messages
  std::stop_token stop;                      ///< ends the wait; the error is then `cancelled`
};

struct registered_graph {
  std::string id;
  std::string warning; ///< a warning for the caller; usually empty
};
/// Registers a graph under `id`; if `id` is empty, the service chooses an id.
result<registered_graph> register_graph(const target& dispatcher, const dataset_ptr& graph,
                                        const std::string& id, const waiting& how = {});
/// The graph of a registered dataset. Does not wait for a dispatcher that cannot be reached.
result<dataset_ptr> graph_of(const target& dispatcher, const std::string& id,
                             duration limit = answer_limit);
/// The properties of a registered dataset on which readers rely.
struct dataset_metadata {
  element_spec spec;
  int64_t cardinality = unknown_cardinality;
  /// The compression with which the dataset was registered.
  headrace::compression compression = headrace::compression::automatic;
};
result<dataset_metadata> metadata_of(const target& dispatcher, const std::string& id,
                                     const waiting& how = {});

} // namespace service

} // namespace headrace::detail
