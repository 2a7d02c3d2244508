#include "headrace/runtime/link/link_service.hpp"

#include "headrace/runtime/base/boot_id.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/link/connector.hpp"
#include "headrace/runtime/link/frames/hello.hpp"
#include "headrace/runtime/link/link_core.hpp"
#include "headrace/runtime/link/listener.hpp"

#include <algorithm>

namespace headrace::detail {

class link_service::impl {
public:
  explicit impl(link_options options)
    : core(std::make_shared<link_core>(options.metrics ? options.metrics
                                                       : std::make_shared<metric_registry>())) {
    if (auto right = options.liveness.check(); !right)
      throw error{right};
    if (options.most_greeting == 0)
      throw error{invalid_argument("a link service must let at least one connection greet")};
    if (options.tls.enabled()) {
      auto tls = tls_context::load(options.tls);
      if (!tls)
        throw error{tls.status()};
      core->tls = *std::move(tls);
    }
    if (options.node_id == 0)
      options.node_id = random_id();
    if (options.boot_id.empty())
      options.boot_id = boot_id();
    core->hello = encode(link_hello{.node_id = options.node_id,
                                    .boot_id = options.boot_id,
                                    .role = options.role,
                                    .ping_every = options.liveness.ping_every});
    if (core->hello.size() > max_hello_bytes)
      throw error{invalid_argument("boot id and role of a link service are too long for a hello")};
    loops.resize(static_cast<size_t>(std::max(options.threads, 1)));
    core->options = std::move(options);
    for (auto& x : loops) x = std::make_shared<io_loop>();
  }

  ~impl() {
    for (auto& x : loops) x->end();
  }

  const std::shared_ptr<io_loop>& any_loop() { return loops[next++ % loops.size()]; }

  std::shared_ptr<link_core> core;
  std::vector<std::shared_ptr<io_loop>> loops;
  std::atomic<size_t> next{0};
};

link_service::link_service(link_options options)
  : impl_(std::make_shared<impl>(std::move(options))) {}

link_service::~link_service() = default;

result<uint16_t> link_service::listen(const std::string& host, uint16_t port,
                                      link_accepted on_accepted) {
  auto made = std::make_shared<listener>(impl_->core, impl_->loops, std::move(on_accepted));
  HEADRACE_ASSIGN(auto bound, made->open(host, port));
  impl_->loops.front()->post([made] { made->start(); });
  return bound;
}

void link_service::connect(const std::string& host, uint16_t port, link_connected done) {
  const auto& loop = impl_->any_loop();
  auto made = std::make_shared<connector>(impl_->core, loop, host, port, std::move(done));
  if (!loop->post([made] { made->start(); }))
    made->fail(cancelled("the link service has stopped"));
}

const metric_registry& link_service::metrics() const { return *impl_->core->registry; }

uint64_t link_service::node_id() const { return impl_->core->options.node_id; }

} // namespace headrace::detail
