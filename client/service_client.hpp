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

namespace headrace {

class link_pool;
class node;

/// Blocking calls to a dispatcher from this process's node, that of HEADRACE_SERVICE where no
/// address is given. Errors name the address.
namespace service {

/// What this process's consumers and calls share, for as long as anybody holds it.
struct session {
  std::shared_ptr<node> here;
  std::shared_ptr<link_pool> links;
};
result<session> session_of_process();
/// Was that given for this node, the process's?
bool has_session_of(const node& here);

/// This process's node, which connects with these files (or without TLS). An error if it is there
/// and connects otherwise.
result<std::shared_ptr<node>> node_with(const tls_options& tls);

/// Where consumers and calls of this node write what people should know: its log; without one, the
/// standard error if it is a terminal.
logger log_of(const node& here);

/// The address of a dispatcher: `given`, or what the environment variable HEADRACE_SERVICE says
/// where that is empty. An error (invalid_argument) names `argument` if neither is there, and the
/// variable if what it says is no address.
result<std::string> named(const std::string& given, std::string_view argument = "service");

/// How long a dispatcher may take to answer.
inline constexpr duration answer_limit = std::chrono::seconds{10};

/// How a call waits for a dispatcher that is not there yet, or away for a moment.
struct waiting {
  duration limit = std::chrono::seconds{60}; ///< until its answer is there
  std::string option = "timeout";            ///< what bounds it, for messages
  std::stop_token stop;                      ///< ends it: `cancelled`
};

struct registered_graph {
  std::string id;
  std::string warning; ///< for whoever registers; mostly empty
};
/// Registers a graph, under `id` or one that the service chooses.
result<registered_graph> register_graph(const std::string& dispatcher, const dataset_ptr& graph,
                                        const std::string& id, const waiting& how = {});
/// The graph of a registered dataset. Does not wait for a dispatcher.
result<dataset_ptr> graph_of(const std::string& dispatcher, const std::string& id,
                             duration limit = answer_limit);
/// What readers rely on, of a registered dataset.
struct dataset_metadata {
  element_spec spec;
  int64_t cardinality = unknown_cardinality;
  headrace::compression compression = headrace::compression::automatic; ///< as registered
};
result<dataset_metadata> metadata_of(const std::string& dispatcher, const std::string& id,
                                     const waiting& how = {});

} // namespace service

} // namespace headrace
