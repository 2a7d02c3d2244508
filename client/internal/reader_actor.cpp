#include "headrace/client/internal/reader_actor.hpp"

#include "headrace/client/internal/consumer_setup.hpp"

#include <algorithm>

namespace headrace::detail {

reader_state::reader_state(port::self_pointer<handle_type> self, dataset_ptr what, starter start)
  : self_(self),
    what_(std::move(what)),
    spec_(std::make_shared<const element_spec>(what_->spec)),
    start_(std::move(start)),
    memory_(std::make_shared<consumer_memory>()),
    out_(std::make_shared<handout>([memory = memory_] { take_trainer_moved(*memory); },
                                   [&time = self->clock()] { return time.now(); })) {
  // The callback has only a weak reference to this actor: the handout is shared with the consumer,
  // and must not keep this actor alive.
  out_->when_something_comes([me = self_->address()] {
    if (auto reader = caf::actor_cast<caf::actor>(me))
      port::tell(reader, atom::arrived_v);
  });
}

reader_state::~reader_state() {
  if (consumer_)
    port::tell(consumer_, make_local<consumer_event>(trainer_leaves{}));
}

port::behavior<reader_state::handle_type> reader_state::make_behavior() {
  if (const auto options = service::consumer_options_of(*what_))
    consumer_ = start_(memory_, *options, out_);
  else
    out_->finish(options.status());
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

// -- answers --------------------------------------------------------------------------

void reader_state::serve() {
  while (!questions_.empty()) {
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

} // namespace headrace::detail
