#include "headrace/client/reader_actor.hpp"

#include "headrace/client/consumer_setup.hpp"
#include "headrace/client/service_call.hpp"
#include "headrace/client/service_client.hpp"

#include <algorithm>

namespace headrace {

reader_state::reader_state(port::self_pointer<handle_type> self, dataset_ptr what,
                           address dispatcher, connector_actor connector, starter start)
  : self_(self),
    what_(std::move(what)),
    spec_(std::make_shared<const element_spec>(what_->spec)),
    dispatcher_(std::move(dispatcher)),
    connector_(std::move(connector)),
    start_(std::move(start)),
    options_(service::consumer_options_of(*what_)),
    consumer_(std::make_shared<consumer_handle>()),
    out_(std::make_shared<handout>([to = consumer_] {
      if (*to)
        port::tell(*to, make_local<consumer_event>(trainer_moved{}));
    })) {
  // Weakly: who holds the handout must not keep its reader.
  out_->when_something_comes([me = self_->address()] {
    if (auto reader = caf::actor_cast<caf::actor>(me))
      port::tell(reader, atom::arrived_v);
  });
}

reader_state::~reader_state() {
  if (*consumer_)
    port::tell(*consumer_, make_local<consumer_event>(trainer_leaves{}));
}

port::behavior<reader_state::handle_type> reader_state::make_behavior() {
  if (options_.dataset_id.empty())
    enroll();
  else
    begin();
  return {
    [this](atom::more, uint64_t most) -> caf::result<local<consumed>> {
      auto answer = self_->make_response_promise<local<consumed>>();
      questions_.push_back({std::max<uint64_t>(most, 1), answer});
      serve();
      return answer;
    },
    [this](atom::arrived) { serve(); },
  };
}

// -- the beginning ------------------------------------------------------------------

void reader_state::enroll() {
  const auto ask =
    service::register_request(what_->inputs.at(0), {}, service::id_use::by_iteration);
  if (!ask)
    return fail(ask.status());
  const auto limit = std::min(options_.worker_timeout, service::answer_limit);
  const auto where = make_local<connect_request>(dispatcher_, duration::zero(), limit);
  port::request(self_, connector_, patience(*where), where)
    .then(
      [this, ask = *ask, limit](const local<connection>& to) {
        port::request(self_, to->actor, limit, ask)
          .then(
            [this](const envelope& answer) {
              if (auto how = status_of(answer); !how)
                return fail(how);
              options_.dataset_id = service::registered_id(answer);
              begin();
            },
            [this](const caf::error& why) {
              fail(to_status(why).with_context("dispatcher at " + to_string(dispatcher_)));
            });
      },
      [this](const caf::error& why) { fail(to_status(why)); });
}

void reader_state::begin() {
  *consumer_ = start_(options_, out_);
  begun_ = true;
  serve();
}

void reader_state::fail(const status& why) {
  out_->finish(why);
  begun_ = true;
  serve();
}

// -- answers --------------------------------------------------------------------------

void reader_state::serve() {
  while (begun_ && !questions_.empty()) {
    auto& [most, answer] = questions_.front();
    if (current_) {
      const auto [first, last] = out_->claim_up_to(most);
      if (first == last) {
        current_ = nullptr;
        continue;
      }
      auto rows = last - first == current_->rows
                    ? current_
                    : std::make_shared<const block>(current_->slice(first, last - first));
      answer.deliver(make_local<consumed>(std::move(rows), spec_));
    } else {
      status how;
      const auto outcome = out_->try_next(current_, how);
      if (outcome == handout::outcome::rows)
        continue;
      if (outcome == handout::outcome::nothing_yet)
        return;
      if (how)
        answer.deliver(make_local<consumed>(nullptr, spec_));
      else
        answer.deliver(to_error(how));
    }
    questions_.pop_front();
  }
}

} // namespace headrace
