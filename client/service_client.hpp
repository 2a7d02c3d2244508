#pragma once

#include "headrace/pipeline/graph/dataset_node.hpp"
#include "headrace/runtime/base/clock.hpp"
#include "headrace/runtime/base/result.hpp"
#include "headrace/runtime/base/tls_options.hpp"

#include <memory>
#include <string>

namespace headrace {

class link_pool;
class node;

/// Blocking calls to a dispatcher from this process's node. Errors name the address.
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

/// How long a dispatcher may take to answer.
inline constexpr duration answer_limit = std::chrono::seconds{10};

/// Registers a graph, under `id` or one that the service chooses; returns its dataset id.
result<std::string> register_graph(const std::string& dispatcher, const dataset_ptr& graph,
                                   const std::string& id, duration limit = answer_limit);
/// The graph of a registered dataset.
result<dataset_ptr> graph_of(const std::string& dispatcher, const std::string& id,
                             duration limit = answer_limit);
/// The element spec of a registered dataset.
result<element_spec> spec_of(const std::string& dispatcher, const std::string& id,
                             duration limit = answer_limit);

} // namespace service

} // namespace headrace
