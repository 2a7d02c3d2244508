#include "headrace/actors/consumer/consumer_actor.hpp"

#include "headrace/actors/stream/stream_message.hpp"

#include <algorithm>
#include <utility>

namespace headrace {

consumer_state::consumer_state(port::self_pointer<handle_type> self, consumer_options options,
                               address dispatcher, connector_actor connector,
                               std::shared_ptr<link_pool> links, std::shared_ptr<handout> out,
                               logger log)
  : self_(self),
    options_(std::move(options)),
    links_(std::move(links)),
    out_(std::move(out)),
    log_(std::move(log)),
    id_{random_id()},
    without_worker_since_(now()),
    watcher_(self),
    dispatcher_(self, watcher_, std::move(connector), std::move(dispatcher),
                {
                  .on_up =
                    [this](const connection&) {
                      unreachable_ = {};
                      ask_anew();
                    },
                  .on_down = [this](const status& why) { unreachable_ = why; },
                  .on_failed =
                    [this](const status& why, duration) {
                      unreachable_ = why;
                      // A first connection that fails is an error at once; a lost one may come
                      // back.
                      // So may one that was accepted and did not greet in time.
                      if (!known_ && why.code() != status_code::deadline_exceeded)
                        fail(why);
                    },
                }) {}

consumer_state::~consumer_state() {
  for (const auto& [id, s] : streams_)
    if (s.over) {
      // What the trainer has must not go to others.
      const auto marks = out_->of(id);
      send_on(*s.over, s.channel, [&](schema::StreamMessage::Builder b) {
        b.initGrant().setHandedOut(marks.handed_out);
      });
      send_on(*s.over, s.channel, [](schema::StreamMessage::Builder b) { b.setClose(); });
      links_->close_channel(s.over.get(), s.channel);
    }
}

port::behavior<consumer_handle> consumer_state::make_behavior() {
  port::remind(self_, timing_.heartbeat, atom::beat_v, ++beats_);
  return {
    [this](const envelope& in) -> envelope {
      if (!in.valid())
        return make_bad_message(++bad_messages_, in.status().message());
      if (in->which() != schema::Envelope::CONSUMER || !in->getConsumer().isIteration())
        return make_unsupported(static_cast<uint16_t>(in->which()), "consumer", in->getRequestId());
      apply(in->getConsumer().getIteration());
      return make_ok(in->getRequestId());
    },
    [this](const local<consumer_event>& what) {
      if (!over_)
        std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t task) {
      const task_id id{task};
      if (auto at = streams_.find(id); at != streams_.end() && !at->second.over && !over_)
        links_->want(at->second.address, consumer_handle{self_});
    },
    [this](atom::beat, uint64_t epoch) {
      if (epoch == beats_)
        beat();
    },
  };
}

void consumer_state::on(const trainer_moved&) { refill(false); }

void consumer_state::on(const trainer_leaves&) {
  over_ = true;
  if (const auto* to = dispatcher_.get(); to != nullptr && known_)
    port::tell(*to, make_envelope(0, [&](schema::Envelope::Builder b) {
      auto out = b.initDispatcher().initLeaveIteration();
      out.setConsumerId(id_.value);
      out.setJobId(job_.value);
      out.setRepetition(options_.repetition);
    }));
  self_->quit();
}

void consumer_state::conclude() {
  if (over_)
    return;
  const bool all = !streams_.empty()
                   && std::all_of(streams_.begin(), streams_.end(),
                                  [](const auto& entry) { return entry.second.ended; });
  // Without its dispatcher a consumer believes its tasks.
  if (finished_ || (all && dispatcher_.get() == nullptr && known_))
    out_->finish({});
}

void consumer_state::fail(const status& why) {
  if (over_)
    return;
  failed_ = true;
  out_->finish(why);
}

} // namespace headrace
