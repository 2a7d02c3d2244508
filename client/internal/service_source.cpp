#include "headrace/client/internal/service_source.hpp"

#include "headrace/actors/consumer/consumer_state.hpp"
#include "headrace/client/internal/consumer_setup.hpp"
#include "headrace/client/internal/service_client.hpp"
#include "headrace/client/internal/service_session.hpp"
#include "headrace/runtime/node/caf_access.hpp"
#include "headrace/runtime/node/caf_connect.hpp"
#include "headrace/runtime/node/first_contact.hpp"
#include "headrace/runtime/node/system_visit.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

struct service_source::impl {
  std::shared_ptr<node> here;
  consumer_handle actor;
  std::stop_token stop;
  warning warn;
  std::string job; ///< the name of the job, for messages
  std::vector<tensor_spec> spec;
  bool failed = false;
};

namespace {

/// Not ok if the dispatcher cannot be reached for a reason that waiting cannot change: then the
/// iteration fails at its start, not with its first element. After other failures the result is ok,
/// and the consumer waits for the dispatcher.
status certainly_wrong(node& here, const address& where, duration limit) {
  constexpr duration longest = std::chrono::seconds{2};
  const auto reached = connect(here, where, std::min(limit, longest), greeting::once);
  if (reached)
    return {};
  first_contact contact{to_string(where), "worker_timeout", limit, clock::system().now()};
  return contact.failed(reached.status()).value_or(status{});
}

} // namespace

service_source::service_source(std::unique_ptr<impl> what) : impl_(std::move(what)) {}

service_source::~service_source() {
  port::tell(impl_->actor, make_local<consumer_event>(trainer_leaves{}));
}

result<std::unique_ptr<service_source>>
service_source::open(const dataset_node& graph, std::stop_token stop, warning warn,
                     const std::shared_ptr<service_session>& in) {
  const auto& about = graph.as<service_options>();
  HEADRACE_ASSIGN(auto session, service_session::of(in ? in : about.session));
  HEADRACE_ASSIGN(auto where, parse_address(about.address));
  HEADRACE_ASSIGN(auto options, service::consumer_options_of(graph));
  HEADRACE_TRY(certainly_wrong(*session.here, where, options.worker_timeout));

  auto what = std::make_unique<impl>();
  what->here = session.here;
  what->stop = std::move(stop);
  what->warn = std::move(warn);
  what->job = options.job_name.empty() ? "distribute" : "job " + options.job_name;
  what->spec = graph.spec.components;
  std::unique_ptr<service_source> out{new service_source{std::move(what)}};
  const auto memory = std::make_shared<consumer_memory>();
  out->out_ = std::make_shared<handout>([memory] { take_trainer_moved(*memory); },
                                        [] { return clock::system().now(); });
  system_visit inside;
  out->impl_->actor = port::spawn<consumer_state>(
    system_of(*session.here), memory, std::move(options), std::move(where),
    connector_of(*session.here), session.links, out->out_, service::log_of(*session.here));
  adopt(*session.here, caf::actor_cast<caf::actor>(out->impl_->actor));
  return out;
}

bool service_source::was_empty() { return out_->was_empty(); }

std::shared_ptr<const block> service_source::peek() {
  for (;;)
    if (auto rows = peek_within(std::chrono::hours{1}))
      return *std::move(rows);
}

std::optional<std::shared_ptr<const block>> service_source::peek_within(duration limit) {
  if (std::exchange(kept_back_, false))
    return current_;
  current_ = nullptr;
  status how;
  auto came = out_->next_within(limit, impl_->stop, current_, how);
  std::string remark;
  if (came == handout::outcome::over && !how) {
    // The error is returned as the last element, before the end.
    out_->add(task_id{}, block::failed_row(impl_->spec, how.that_ends_run()));
    came = out_->try_next(current_, how);
  } else if (came == handout::outcome::over) {
    remark = out_->take_remark();
  }
  // If `warn` throws, the next call returns the result that this call would have returned.
  kept_back_ = came != handout::outcome::nothing_yet;
  give_warning(remark);
  if (out_->has_news())
    give_warning(out_->take_news());
  kept_back_ = false;
  if (came == handout::outcome::nothing_yet)
    return std::nullopt;
  return current_;
}

void service_source::give_warning(const std::string& what) const {
  if (impl_->warn && !what.empty())
    impl_->warn(impl_->job + ": " + what);
}

std::optional<block> service_source::next(const limits& wanted) {
  for (;;) {
    if (current_) {
      kept_back_ = false;
      auto [first, last] = out_->claim_up_to(wanted.rows);
      if (first != last)
        return current_->slice(first, last - first);
    }
    if (!peek())
      return std::nullopt;
  }
}

} // namespace headrace::detail
