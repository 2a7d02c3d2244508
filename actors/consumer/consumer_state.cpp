#include "headrace/actors/consumer/consumer_state.hpp"

#include "headrace/actors/protocol/reader_codec.hpp"
#include "headrace/actors/protocol/stream_codec.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

namespace {

consumer_options reading_from(consumer_options what, const link_pool& links) {
  what.node = links.node();
  what.place = links.place();
  what.beside_a_worker = what.place != 0 && local_hub::present();
  return what;
}

} // namespace

consumer_state::consumer_state(port::self_pointer<handle_type> self, consumer_options options,
                               address dispatcher, connector_actor connector,
                               std::shared_ptr<link_pool> links, std::shared_ptr<handout> out,
                               logger log)
  : self_(self),
    components_(options.spec.components),
    answer_limit_(options.worker_timeout),
    links_(std::move(links)),
    core_(reading_from(std::move(options), *links_), consumer_id{random_id()},
          to_string(dispatcher), std::move(out), std::move(log), self->clock().now()),
    watcher_(self),
    dispatcher_(
      self, watcher_, std::move(connector), std::move(dispatcher),
      {
        .on_up = [this](const connection&) { carry_out(core_.dispatcher_up(now())); },
        .on_down = [this](const status& why) { carry_out(core_.dispatcher_down(why, now())); },
        .on_failed = [this](const status& why,
                            duration) { carry_out(core_.dispatcher_unreached(why, now())); },
      },
      // The pauses are short, so that the connection is made again within a lease even after a few
      // failed attempts. An attempt fails before the time-out for waiting, so that the error
      // contains its reason.
      {.attempt = std::clamp<duration>(answer_limit_ / 2, std::chrono::milliseconds{500},
                                       std::chrono::seconds{5}),
       .longest_pause = std::chrono::milliseconds{500}}) {}

consumer_state::~consumer_state() {
  if (!left_)
    for (const auto& what : core_.close_streams())
      if (const auto* last = std::get_if<consume::send>(&what))
        carry_out(*last);
  for (const auto& [id, where] : routes_) links_->close_channel(where.over.get(), where.channel);
  links_->forget(consumer_handle{self_});
}

port::behavior<consumer_handle> consumer_state::make_behavior() {
  alarm_.set(self_, atom::deadline_v, core_.next_deadline());
  return {
    [this](const envelope& in) -> envelope {
      if (!in.valid())
        return make_bad_message(++bad_messages_, in.status().message());
      if (in->which() != schema::Envelope::CONSUMER || !in->getConsumer().isIteration())
        return make_unsupported(static_cast<uint16_t>(in->which()), "consumer", in->getRequestId());
      const auto news = read_iteration(in->getConsumer().getIteration());
      if (!news)
        return make_failure(news.status(), in->getRequestId());
      carry_out(core_.told(*news, now()));
      return make_ok(in->getRequestId());
    },
    [this](const local<consumer_event>& what) {
      if (!left_)
        std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (alarm_.due(epoch))
        carry_out(core_.timer(now()));
    },
  };
}

// -- events -------------------------------------------------------------------------------

void consumer_state::on(const link_made& what) {
  if (!what.made)
    return carry_out(core_.not_linked(what.address, what.why, now()));
  fresh_ = what.made;
  carry_out(core_.linked(what.address, now()));
  fresh_.reset();
}

void consumer_state::on(const block_arrived& what) {
  const auto at = by_channel_.find({what.from.get(), what.what.channel});
  if (at != by_channel_.end())
    carry_out(core_.arrived(at->second, read_from_task(what.what, components_), now()));
}

void consumer_state::on(const link_lost& what) {
  std::vector<task_id> cut;
  for (const auto& [id, where] : routes_)
    if (where.over == what.lost)
      cut.push_back(id);
  for (auto id : cut) {
    by_channel_.erase({what.lost.get(), routes_.at(id).channel});
    routes_.erase(id);
    carry_out(core_.stream_cut(id, what.why, now()));
  }
}

void consumer_state::on(const trainer_moved&) { carry_out(core_.trainer_moved(now())); }

void consumer_state::on(const trainer_leaves&) {
  left_ = true;
  carry_out(core_.trainer_leaves(now()));
}

// -- commands -------------------------------------------------------------------------------

void consumer_state::carry_out(const consume::commands& what) {
  for (const auto& one : what) std::visit([this](const auto& x) { carry_out(x); }, one);
  for (auto id : std::exchange(not_opened_, {}))
    carry_out(core_.stream_cut(id, unavailable("the connection is over"), now()));
  alarm_.set(self_, atom::deadline_v, core_.next_deadline());
}

void consumer_state::carry_out(const consume::ask& what) {
  const auto question = make_envelope(what.what.consumer.value, [&](schema::Envelope::Builder b) {
    write_open_iteration(b.initDispatcher().initOpenIteration(), what.what);
  });
  port::request(self_, *dispatcher_.get(), answer_limit_, question)
    .then(
      [this, number = what.number](const envelope& in) {
        const auto said = dispatcher_answer(in, schema::DispatcherMessage::ITERATION);
        if (!said)
          return carry_out(core_.answered(number, said.status(), now()));
        carry_out(core_.answered(number, read_iteration(said->getIteration()), now()));
      },
      [this, number = what.number](const caf::error& why) {
        // A peer that has ended does not have the request after its restart.
        const auto how = to_status(why);
        const bool passes = how.code() != status_code::deadline_exceeded;
        carry_out(core_.unanswered(number, how, passes, now()));
      });
}

void consumer_state::carry_out(const consume::beat& what) {
  const auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_heartbeat(b.initDispatcher().initConsumerHeartbeat(), what.what);
  });
  port::request(self_, *dispatcher_.get(), core_.timing().lease, say)
    .then([this, at = what.at](
            const envelope& in) { carry_out(core_.heartbeat_answered(status_of(in), at, now())); },
          [this](const caf::error& why) { carry_out(core_.heartbeat_unanswered(to_status(why))); });
}

void consumer_state::carry_out(const consume::say_goodbye& what) {
  const auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_leave(b.initDispatcher().initLeaveIteration(), what.what);
  });
  port::request(self_, *dispatcher_.get(), core_.timing().lease, say)
    .then([this](const envelope& in) { carry_out(core_.goodbye_answered(status_of(in), now())); },
          [this](const caf::error& why) {
            carry_out(core_.goodbye_unanswered(to_status(why), now()));
          });
}

void consumer_state::carry_out(const consume::quit&) { self_->quit(); }

void consumer_state::carry_out(const consume::renew_dispatcher& what) {
  dispatcher_.renew(what.why);
}

void consumer_state::carry_out(const consume::make_link& what) {
  links_->want(what.address, consumer_handle{self_});
}

void consumer_state::carry_out(const consume::open_stream& what) {
  const auto channel = links_->open_channel(fresh_, consumer_handle{self_});
  if (channel == 0) // the link was closed while the event was in the actor's mailbox
    return not_opened_.push_back(what.task);
  routes_[what.task] = {fresh_, channel};
  by_channel_[{fresh_.get(), channel}] = what.task;
}

void consumer_state::carry_out(const consume::send& what) {
  if (const auto at = routes_.find(what.task); at != routes_.end())
    at->second.over->send(write_message(at->second.channel, what.what));
}

void consumer_state::carry_out(const consume::close_stream& what) {
  const auto at = routes_.find(what.task);
  if (at == routes_.end())
    return;
  by_channel_.erase({at->second.over.get(), at->second.channel});
  links_->close_channel(at->second.over.get(), at->second.channel);
  routes_.erase(at);
}

} // namespace headrace::detail
