#include "headrace/client/consumer_actor.hpp"

#include "headrace/actors/consumer/consumer_state.hpp"
#include "headrace/client/internal/reader_actor.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/link/wire/tls_check.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/node_config.hpp"
#include "headrace/runtime/node/system_visit.hpp"

namespace headrace {
using namespace detail;

namespace {

static_assert(consumer_first_type_id == client_first_type_id);

node_options options_of(const tls_options& tls, const link_liveness& liveness = {},
                        logger log = {}) {
  auto out = service_node(node_role::consumer, tls);
  out.liveness = liveness;
  out.log = std::move(log);
  return out;
}

} // namespace

void configure_consumers(caf::actor_system_config& config, const tls_options& tls) {
  if (auto how = check_tls(tls); !how)
    throw error{how};
  configure_network(config, options_of(tls));
  port::register_types<caf::id_block::headrace_client>(config);
}

struct consumer_host::impl {
  std::unique_ptr<node> here;
  std::shared_ptr<link_pool> links;

  impl(caf::actor_system& system, consumer_host_options&& options)
    : here(make_node_in(system, options_of(options.tls, options.liveness, std::move(options.log)))),
      links(std::make_shared<link_pool>(here->transports().find("link").value(), here->id())) {}
};

consumer_host::consumer_host(caf::actor_system& system, consumer_host_options options)
  : impl_(std::make_unique<impl>(system, std::move(options))) {}

consumer_host::~consumer_host() = default;

consumer_actor consumer_host::spawn(const dataset& what) {
  const auto& graph = what.node();
  if (graph->op != dataset_op::distribute)
    throw error{invalid_argument("a consumer actor reads a dataset whose last operator is "
                                 "distribute, not "
                                 + std::string{to_string(graph->op)}
                                 + ": what follows distribute is for the actor that asks")};
  auto where = parse_address(graph->as<service_options>().address).value();
  system_visit inside;
  auto& system = system_of(*impl_->here);
  auto connector = connector_of(*impl_->here);
  auto start = [&system, where, connector, links = impl_->links,
                log = impl_->here->log()](std::shared_ptr<consumer_memory> memory,
                                          consumer_options options, std::shared_ptr<handout> out) {
    return port::spawn<consumer_state>(system, std::move(memory), std::move(options), where,
                                       connector, links, std::move(out), log);
  };
  auto reader = port::spawn<reader_state>(system, graph, std::move(start));
  adopt(*impl_->here, caf::actor_cast<caf::actor>(reader));
  return reader;
}

} // namespace headrace
