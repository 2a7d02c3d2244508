#include "headrace/actors/consumer/consumer_state.hpp"

#include "headrace/actors/protocol/codec/reader_codec.hpp"
#include "headrace/runtime/link/local_link.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace headrace::detail {

namespace {

consumer_options reading_from(consumer_options what, const link_pool& links) {
  what.node = links.node();
  what.place = links.place();
  what.beside_a_worker = what.place != 0 && local_hub::present();
  return what;
}

} // namespace

consumer_state::consumer_state(port::self_pointer<handle_type> self,
                               std::shared_ptr<consumer_memory> memory, consumer_options options,
                               address dispatcher, connector_actor connector,
                               std::shared_ptr<link_pool> links, std::shared_ptr<handout> out,
                               logger log)
  : self_(self),
    memory_(std::move(memory)),
    answer_limit_(options.worker_timeout),
    links_(std::move(links)),
    watcher_(self),
    dispatcher_(self, watcher_, std::move(connector), dispatcher,
                {
                  .on_up =
                    [this](const connection&) {
                      handle([&](consumer_core& core) { return core.dispatcher_up(now()); });
                    },
                  .on_down =
                    [this](const status& why) {
                      handle([&](consumer_core& core) { return core.dispatcher_down(why, now()); });
                    },
                  .on_failed =
                    [this](const status& why, duration) {
                      handle(
                        [&](consumer_core& core) { return core.dispatcher_unreached(why, now()); });
                    },
                },
                // The pauses are short, so that the connection is made again within a lease even
                // after a few failed attempts. An attempt ends before `worker_timeout`, so that the
                // error of that time-out contains the reason of the failure.
                {.attempt = std::clamp<duration>(answer_limit_ / 2, std::chrono::milliseconds{500},
                                                 std::chrono::seconds{5}),
                 .longest_pause = std::chrono::milliseconds{500}}) {
  const consumer_handle me{self_};
  std::lock_guard hold{memory_->mutex};
  memory_->components = options.spec.components;
  memory_->gathers_events = options.parameters.num_consumers != 0;
  memory_->actor = {
    .now = [this] { return now(); },
    .announce = [me] { port::tell(me, make_local<consumer_event>(stream_work_left{})); },
    .open_channel =
      [links = links_, me, memory = std::weak_ptr{memory_}](const std::shared_ptr<link>& on) {
        return links->open_channel(
          on, me,
          {.on_message =
             [memory](const link& from, link_message what) {
               if (const auto of = memory.lock())
                 take_message(*of, from, std::move(what));
             },
           .on_closed =
             [memory](const link& from, uint32_t channel, const status& why) {
               if (const auto of = memory.lock())
                 take_cut(*of, from, channel, why);
             }});
      },
    .close_channel = [links = links_](const link* on,
                                      uint32_t channel) { links->close_channel(on, channel); },
  };
  memory_->core.emplace(reading_from(std::move(options), *links_), consumer_id{random_id()},
                        to_string(dispatcher), std::move(out), std::move(log), now());
}

consumer_state::~consumer_state() {
  {
    std::lock_guard hold{memory_->mutex};
    memory_->end();
  }
  links_->forget(consumer_handle{self_});
}

port::behavior<consumer_handle> consumer_state::make_behavior() {
  handle([](consumer_core&) { return consume::commands{}; }); // sets the first reminder
  return {
    [this](const envelope& in) -> envelope {
      if (!in.valid())
        return make_bad_message(++bad_messages_, in.status().message());
      if (in->which() != schema::Envelope::CONSUMER || !in->getConsumer().isIteration())
        return make_unsupported(static_cast<uint16_t>(in->which()), "consumer", in->getRequestId());
      const auto news = read_iteration(in->getConsumer().getIteration());
      if (!news)
        return make_failure(news.status(), in->getRequestId());
      handle_arrived();
      handle([&](consumer_core& core) { return core.told(*news, now()); });
      return make_ok(in->getRequestId());
    },
    [this](const local<consumer_event>& what) {
      std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (alarm_.due(epoch))
        handle([&](consumer_core& core) { return core.timer(now()); });
    },
  };
}

// -- events -------------------------------------------------------------------------------

template <class Event>
void consumer_state::handle(Event&& event, const std::shared_ptr<link>& fresh) {
  std::unique_lock hold{memory_->mutex};
  try {
    if (memory_->thrown)
      std::rethrow_exception(memory_->thrown);
    auto todo = std::exchange(memory_->unfinished, {});
    std::ranges::move(memory_->handle_inbox(), std::back_inserter(todo));
    std::ranges::move(memory_->carry_out(event(*memory_->core), fresh), std::back_inserter(todo));
    lease_ = memory_->core->timing().lease;
    hold.unlock();
    for (const auto& one : todo) std::visit([&](const auto& x) { carry_out(x); }, one);
    hold.lock();
    alarm_.set(self_, atom::deadline_v, memory_->core->next_deadline());
    memory_->reminder = alarm_.armed();
  } catch (...) {
    if (!hold.owns_lock())
      hold.lock();
    memory_->thrown = std::current_exception(); // no thread handles further events
    throw;
  }
  hold.unlock();
  try_handle_inbox(*memory_);
}

void consumer_state::decode_next() {
  if (auto next = memory_->inbox.packed())
    memory_->inbox.decoded(decode_message(*memory_, *next));
  handle([](consumer_core&) { return consume::commands{}; });
}

void consumer_state::handle_arrived() {
  for (auto left = memory_->inbox.size(); left > 0; --left) decode_next();
}

void consumer_state::on(const link_made& what) {
  if (!what.made)
    return handle(
      [&](consumer_core& core) { return core.not_linked(what.address, what.why, now()); });
  handle([&](consumer_core& core) { return core.linked(what.address, now()); }, what.made);
}

void consumer_state::on(const stream_work_left&) {
  {
    std::lock_guard hold{memory_->mutex};
    memory_->announced = false;
  }
  // Only one message is decoded here. If there are more, the actor is sent `stream_work_left`
  // again, so that it first handles the events that have arrived in the meantime.
  decode_next();
}

void consumer_state::on(const trainer_leaves&) {
  handle([&](consumer_core& core) {
    memory_->inbox.clear();
    return core.trainer_leaves(now());
  });
}

// -- commands -------------------------------------------------------------------------------

template <class OnAnswer, class OnError>
void consumer_state::ask_dispatcher(duration limit, const envelope& question, OnAnswer on_answer,
                                    OnError on_error) {
  // The connection may have been lost while the command was left to the actor.
  if (const auto* to = dispatcher_.get())
    port::request(self_, *to, limit, question).then(std::move(on_answer), std::move(on_error));
}

void consumer_state::carry_out(const consume::ask& what) {
  const auto question = make_envelope(what.what.consumer.value, [&](schema::Envelope::Builder b) {
    write_open_iteration(b.initDispatcher().initOpenIteration(), what.what);
  });
  ask_dispatcher(
    answer_limit_, question,
    [this, number = what.number](const envelope& in) {
      const auto said = dispatcher_answer(in, schema::DispatcherMessage::ITERATION);
      if (!said)
        return handle(
          [&](consumer_core& core) { return core.answered(number, said.status(), now()); });
      handle_arrived();
      handle([&](consumer_core& core) {
        return core.answered(number, read_iteration(said->getIteration()), now());
      });
    },
    [this, number = what.number](const caf::error& why) {
      // If the receiving actor has ended, its successor does not have the request, so the core
      // repeats the request.
      const auto how = to_status(why);
      const bool passes = how.code() != status_code::deadline_exceeded;
      handle([&](consumer_core& core) { return core.unanswered(number, how, passes, now()); });
    });
}

void consumer_state::carry_out(const consume::beat& what) {
  const auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_heartbeat(b.initDispatcher().initConsumerHeartbeat(), what.what);
  });
  ask_dispatcher(
    lease_, say,
    [this, at = what.at](const envelope& in) {
      handle(
        [&](consumer_core& core) { return core.heartbeat_answered(status_of(in), at, now()); });
    },
    [this](const caf::error& why) {
      handle([&](consumer_core& core) { return core.heartbeat_unanswered(to_status(why)); });
    });
}

void consumer_state::carry_out(const consume::say_goodbye& what) {
  const auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    write_leave(b.initDispatcher().initLeaveIteration(), what.what);
  });
  ask_dispatcher(
    lease_, say,
    [this](const envelope& in) {
      handle([&](consumer_core& core) { return core.goodbye_answered(status_of(in), now()); });
    },
    [this](const caf::error& why) {
      handle([&](consumer_core& core) { return core.goodbye_unanswered(to_status(why), now()); });
    });
}

void consumer_state::carry_out(const consume::quit&) { self_->quit(); }

void consumer_state::carry_out(const consume::renew_dispatcher& what) {
  dispatcher_.renew(what.why);
}

void consumer_state::carry_out(const consume::make_link& what) {
  links_->want(what.address, consumer_handle{self_});
}

} // namespace headrace::detail
