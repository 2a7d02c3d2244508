#include "headrace/actors/consumer/consumer_actor.hpp"

#include "headrace/actors/job/job_codec.hpp"
#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/pipeline/codec/block_codec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace headrace {

namespace {

constexpr auto longest_pause = std::chrono::milliseconds{500};

schema::Compression to_schema(compression x) {
  switch (x) {
  case compression::automatic: return schema::Compression::AUTO;
  case compression::snappy: return schema::Compression::SNAPPY;
  case compression::none: break;
  }
  return schema::Compression::NONE;
}

stream_credit::progress progress_of(const handout::marks& m, bool waiting, bool ended = false) {
  return {m.handed_out, m.received, m.bytes, m.taken_bytes, waiting, ended};
}

} // namespace

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
                  .on_up = [this](const connection& to) { open_iteration(to); },
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
        return make_bad_message(1, in.status().message());
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

// -- the dispatcher -----------------------------------------------------------------

void consumer_state::open_iteration(const connection& to) {
  unreachable_ = {};
  const auto ask = make_envelope(id_.value, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initOpenIteration();
    out.setConsumerId(id_.value);
    out.setDatasetId(options_.dataset_id);
    out.setJobName(options_.job_name);
    out.setRepetition(options_.repetition);
    out.setProcessingMode(to_schema(options_.mode));
  });
  port::request(self_, to.actor, options_.worker_timeout, ask)
    .then(
      [this](const envelope& in) {
        if (auto how = status_of(in); !how)
          return fail(known_ ? how.with_context(
                        "the dispatcher has lost this job (it came back without a store)")
                             : how);
        apply(in->getDispatcher().getIteration());
      },
      [this](const caf::error& why) { fail(to_status(why)); });
}

void consumer_state::apply(schema::Iteration::Reader state) {
  if (over_)
    return;
  // Its elements would come from the beginning. What is left of a finished one is with the tasks.
  if (known_ && state.getJobId() != job_.value && finished_)
    return;
  if (known_ && state.getJobId() != job_.value)
    return fail(aborted(fmt::format("job {} is over: the dispatcher has begun job {} in its place",
                                    job_.value, state.getJobId())));
  if (known_ && state.getVersion() < version_)
    return;
  const bool first = !std::exchange(known_, true);
  job_ = job_id{state.getJobId()};
  version_ = state.getVersion();
  shared_ = state.getShared();
  timing_ = read_timing(state.getTiming());
  if (first) // the lease may be shorter than the heartbeat that was meant before
    port::remind(self_, timing_.heartbeat, atom::beat_v, ++beats_);
  if (state.getFailure().isFailed())
    return fail(read_failure(state.getFailure().getFailed()));
  std::set<task_id> present;
  for (auto task : state.getTasks()) {
    const task_id id{task.getTaskId()};
    present.insert(id);
    auto [at, fresh] = streams_.try_emplace(id);
    if (!fresh)
      continue;
    at->second.life = incarnation{task.getIncarnation()};
    at->second.address = std::string{task.getDataAddress()};
    links_->want(at->second.address, consumer_handle{self_});
  }
  if (options_.max_outstanding > 0)
    for (auto& [id, s] : streams_)
      s.credit.bound(static_cast<uint64_t>(options_.max_outstanding) / streams_.size());
  // What is not told any more has ended or is lost; what it sent stays.
  for (auto& [id, s] : streams_)
    if (!present.contains(id))
      s.ended = true;
  if (!present.empty())
    without_worker_since_ = now();
  finished_ = state.getFinished();
  conclude();
}

void consumer_state::beat() {
  if (over_)
    return;
  port::remind(self_, timing_.heartbeat, atom::beat_v, beats_);
  const bool served = std::any_of(streams_.begin(), streams_.end(),
                                  [](const auto& entry) { return !entry.second.ended; });
  if (served)
    without_worker_since_ = now();
  else if (now() - without_worker_since_ >= options_.worker_timeout)
    return fail(
      unavailable(fmt::format("no worker of the service at {} has served this job for {:.0f} s; "
                              "start one with `headrace worker "
                              "--dispatcher {}`, or give `worker_timeout` more",
                              to_string(dispatcher_.where()),
                              std::chrono::duration<double>(options_.worker_timeout).count(),
                              to_string(dispatcher_.where()))));
  const auto* to = dispatcher_.get();
  if (to == nullptr || !known_)
    return;
  const auto say = make_envelope(0, [&](schema::Envelope::Builder b) {
    auto out = b.initDispatcher().initConsumerHeartbeat();
    out.setConsumerId(id_.value);
    out.setJobId(job_.value);
    out.setRepetition(options_.repetition);
  });
  port::request(self_, *to, timing_.lease, say)
    .then(
      [this](const envelope& in) {
        if (auto how = status_of(in); !how && !over_ && !finished_)
          fail(how);
      },
      [this](const caf::error& why) { dispatcher_.renew(to_status(why)); });
}

// -- streams ------------------------------------------------------------------------

void consumer_state::on(const link_made& what) {
  for (auto& [id, s] : streams_) {
    if (s.address != what.address || s.over || s.ended)
      continue;
    if (what.made) {
      s.over = what.made;
      open(id, s);
    } else {
      log_.debug("worker not reached", {{"address", what.address}, {"why", what.why}});
      reconnect(id, s);
    }
  }
}

void consumer_state::open(task_id id, stream& s) {
  s.channel = links_->open_channel(s.over, consumer_handle{self_});
  by_channel_[{s.over.get(), s.channel}] = id;
  if (!s.opened)
    s.credit = stream_credit{
      shared_,
      options_.max_outstanding == 0
        ? 0
        : std::max<uint64_t>(static_cast<uint64_t>(options_.max_outstanding) / streams_.size(), 1),
      std::min(options_.stream_bytes, options_.consumer_bytes / streams_.size())};
  s.opened = true;
  s.pause = std::chrono::milliseconds{10};
  const auto marks = out_->of(id);
  const auto waiting = out_->waiting();
  s.credit.reopened(progress_of(marks, waiting));
  const auto window = s.credit.now(marks.handed_out);
  send_on(*s.over, s.channel, [&](schema::StreamMessage::Builder b) {
    auto out = b.initOpen();
    out.setTaskId(id.value);
    out.setIncarnation(s.life.value);
    out.setConsumerId(id_.value);
    out.setReceived(marks.received);
    out.setHandedOut(marks.handed_out);
    out.setCompression(to_schema(options_.packing));
  });
  send_on(*s.over, s.channel, [&](schema::StreamMessage::Builder b) {
    auto out = b.initGrant();
    out.setHandedOut(marks.handed_out);
    out.setElements(window.elements);
    out.setBytes(window.bytes);
    out.setWaiting(waiting);
  });
  // A smaller window than the others' is to be looked at more often.
  refill(false);
}

void consumer_state::on(const block_arrived& what) {
  auto at = by_channel_.find({what.from.get(), what.what.channel});
  if (at == by_channel_.end())
    return;
  const auto id = at->second;
  auto& s = streams_.at(id);
  const auto in = stream_message::parse(what.what.header);
  if (!in.valid()) {
    log_.warn("bad stream message", {{"peer", what.from->peer_address()}, {"why", in.status()}});
    return what.from->close(in.status());
  }
  switch (in->which()) {
  case schema::StreamMessage::BLOCK: return accept(id, s, what.what, in->getBlock());
  case schema::StreamMessage::RECALL: {
    const auto mark = out_->recall(id, in->getRecall().getKeep());
    send_on(*s.over, s.channel, [&](schema::StreamMessage::Builder b) {
      auto out = b.initRecalled();
      out.setId(in->getRecall().getId());
      out.setMark(mark);
    });
    s.credit.task_forgot();
    return refill(true);
  }
  case schema::StreamMessage::END:
    s.ended = true;
    refill(false);
    return conclude();
  case schema::StreamMessage::FAILED: {
    if (s.ended)
      return;
    const auto why = in->getFailed();
    const auto code = static_cast<status_code>(why.getCode());
    // Gone since its job's last word; the next word will say so, or the lease will.
    if (code == status_code::not_found || code == status_code::aborted) {
      log_.debug("stream refused", {{"task", id}, {"why", std::string{why.getText()}}});
      by_channel_.erase(at);
      links_->close_channel(s.over.get(), s.channel);
      s.over.reset();
      // What is held of a stream that was given up belongs to others by now.
      if (code == status_code::aborted) {
        out_->forget(id);
        s.opened = false;
      }
      return reconnect(id, s);
    }
    return fail({code, std::string{why.getText()}});
  }
  default: log_.debug("unknown stream message", {{"arm", static_cast<uint16_t>(in->which())}});
  }
}

void consumer_state::accept(task_id id, stream& s, const link_message& carrier,
                            schema::StreamBlock::Reader in) {
  auto rows = decode_block(in.getBlock(), carrier.payload, options_.spec.components);
  if (!rows) {
    log_.error("bad block", {{"task", id}, {"why", rows.status()}});
    return s.over->close(rows.status());
  }
  const auto received = out_->of(id).received;
  if (in.getFirst() > received)
    return s.over->close(
      data_loss(fmt::format("a block of task {} begins at element {}, but {} were received",
                            id.value, in.getFirst(), received)));
  // Sent again though it had come: drop what we have.
  if (const auto known = received - in.getFirst(); known != 0) {
    if (known >= rows->rows)
      return;
    *rows = rows->slice(known, rows->rows - known);
  }
  s.credit.make_room(rows->bytes() / std::max<size_t>(rows->rows, 1),
                     options_.consumer_bytes / streams_.size());
  s.credit.task_forgot();
  out_->add(id, *std::move(rows));
}

void consumer_state::on(const link_lost& what) {
  for (auto& [id, s] : streams_) {
    if (s.over != what.lost)
      continue;
    by_channel_.erase({s.over.get(), s.channel});
    s.over.reset();
    if (!s.ended) {
      log_.info("connection to a worker lost", {{"address", s.address}, {"why", what.why}});
      links_->want(s.address, consumer_handle{self_});
    }
  }
}

void consumer_state::reconnect(task_id id, stream& s) {
  if (s.ended)
    return;
  port::remind(self_, s.pause, atom::deadline_v, id.value);
  s.pause = std::min<duration>(s.pause * 2, longest_pause);
}

// -- the trainer ----------------------------------------------------------------------

void consumer_state::on(const trainer_moved&) { refill(false); }

uint64_t consumer_state::quiet_bytes() const {
  auto out = stream_credit::unbounded;
  for (const auto& [id, s] : streams_)
    if (s.over)
      out = std::min(out, s.ended ? 0 : s.credit.quiet_bytes());
  return streams_.empty() ? 0 : out;
}

void consumer_state::refill(bool always) {
  bool waiting = false;
  const auto marks = out_->look(waiting, quiet_bytes());
  for (const auto& [id, m] : marks) {
    auto at = streams_.find(id);
    if (at == streams_.end() || !at->second.over)
      continue;
    auto& s = at->second;
    if (!s.credit.update(progress_of(m, waiting, s.ended), always))
      continue;
    const auto window = s.credit.now(m.handed_out);
    send_on(*s.over, s.channel, [&, &m = m](schema::StreamMessage::Builder b) {
      auto out = b.initGrant();
      out.setHandedOut(m.handed_out);
      out.setElements(window.elements);
      out.setBytes(window.bytes);
      out.setWaiting(waiting);
    });
  }
}

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
  out_->finish(why);
}

} // namespace headrace
