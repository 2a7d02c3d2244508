#include "headrace/actors/task/task_actor.hpp"

#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/pipeline/codec/block_codec.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace {

namespace {

/// How often a task that is busy tells its worker how far it is.
constexpr auto report_interval = std::chrono::milliseconds{200};
/// How long a trainer waits for production before others' rows are recalled for it.
constexpr auto patience = std::chrono::milliseconds{5};

} // namespace

task_state::task_state(port::self_pointer<handle_type> self, task_definition about,
                       worker_options options, worker_handle parent, logger log)
  : self_(self),
    about_(std::move(about)),
    options_(std::move(options)),
    parent_(std::move(parent)),
    log_(log.with({{"task", about_.id}})),
    output_(about_.shared) {}

port::behavior<task_handle> task_state::make_behavior() {
  return {
    [this](const local<task_event>& what) {
      std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (epoch != armed_)
        return;
      std::vector<consumer_id> gone;
      for (const auto& [who, route] : routes_)
        if (route.gone_at && *route.gone_at <= now())
          gone.push_back(who);
      for (auto who : gone) leave(who);
      arm();
      deal();
    },
  };
}

// -- the runner -------------------------------------------------------------------

void task_state::start_runner() {
  const auto run = ++run_;
  const auto me = task_handle{self_};
  const auto tell = [me](task_event what) {
    port::tell(me, make_local<task_event>(std::move(what)));
  };
  runner_ = std::make_unique<runner>(
    runner::options{about_.graph, about_.seed, about_.repetition, about_.leases_splits, splits_,
                    numbers_.elements},
    runner::callbacks{
      [tell, run](block rows) {
        tell(rows_produced{run, std::move(rows)});
      },
      [tell, run](status how) {
        tell(run_ended{run, std::move(how)});
      },
      [tell, run](uint32_t source, uint64_t pass, std::optional<uint64_t> total) {
        tell(splits_wanted{run, source, pass, total});
      },
    });
  taken_from_runner_ = 0;
}

void task_state::on(const rows_produced& what) {
  if (what.run != run_)
    return;
  numbers_.elements += what.rows.rows;
  const auto bytes = what.rows.bytes();
  numbers_.bytes += bytes;
  taken_from_runner_ += bytes;
  output_.produced(what.rows);
  deal();
}

void task_state::on(const run_ended& what) {
  if (what.run != run_)
    return;
  if (!what.how.ok() && what.how.code() == status_code::internal)
    return restart_runner(what.how);
  if (!what.how.ok())
    return fail(what.how);
  output_.exhausted();
  deal();
}

void task_state::on(const splits_wanted& what) {
  if (what.run != run_)
    return;
  asked_ = what;
  report(what);
}

void task_state::on(const splits_answered& what) {
  if (what.run != run_ || !asked_)
    return;
  if (what.what)
    splits_.push_back({asked_->source, asked_->pass, *what.what});
  asked_.reset();
  runner_->give_splits(what.what);
}

void task_state::on(const runner_crash& what) {
  if (runner_)
    restart_runner(what.why);
}

void task_state::restart_runner(const status& why) {
  while (!crashes_.empty() && crashes_.front() + options_.restart_period <= now())
    crashes_.pop_front();
  if (static_cast<int>(crashes_.size()) >= options_.most_restarts)
    return fail(why.with_context(
      fmt::format("the task's pipeline crashed {} times; the last time", crashes_.size() + 1)));
  crashes_.push_back(now());
  ++numbers_.restarts;
  log_.warn("runner restarted", {{"why", why}, {"replays", numbers_.elements}});
  asked_.reset();
  start_runner();
}

void task_state::fail(const status& why) {
  if (ended_)
    return;
  ended_ = true;
  failed_ = why;
  log_.error("task failed", {{"why", why}});
  for (const auto& [who, route] : routes_)
    if (route.over)
      send_failure(*route.over, route.channel, why);
  runner_.reset();
  report({}, why);
}

// -- streams ------------------------------------------------------------------------

void task_state::on(const stream_arrived& from) {
  const auto in = stream_message::parse(from.what.header);
  if (!in.valid()) {
    log_.warn("bad stream message", {{"peer", from.from->peer_address()}, {"why", in.status()}});
    return from.from->close(in.status());
  }
  if (in->which() == schema::StreamMessage::OPEN)
    return open(from, in->getOpen());
  auto at = by_channel_.find({from.from.get(), from.what.channel});
  if (at == by_channel_.end())
    return;
  const auto who = at->second;
  switch (in->which()) {
  case schema::StreamMessage::GRANT: {
    const auto grant = in->getGrant();
    output_.grant(who, grant.getHandedOut(), grant.getElements(), grant.getBytes(),
                  grant.getWaiting());
    break;
  }
  case schema::StreamMessage::RECALLED:
    output_.recalled(who, in->getRecalled().getId(), in->getRecalled().getMark());
    break;
  case schema::StreamMessage::CLOSE: leave(who); break;
  default:
    log_.debug("unknown stream message", {{"arm", static_cast<uint16_t>(in->which())}});
    return;
  }
  deal();
}

void task_state::open(const stream_arrived& from, schema::Open::Reader wanted) {
  const consumer_id who{wanted.getConsumerId()};
  if (incarnation{wanted.getIncarnation()} != about_.life)
    return void(send_failure(
      *from.from, from.what.channel,
      aborted(fmt::format("task {} is now in its life {}", about_.id.value, about_.life.value))));
  if (failed_)
    return void(send_failure(*from.from, from.what.channel, *failed_));
  const bool again = routes_.contains(who);
  if (!again && wanted.getReceived() != 0)
    return void(send_failure(*from.from, from.what.channel,
                             aborted("this stream was given up while its consumer was away")));
  if (again)
    by_channel_.erase({routes_[who].over.get(), routes_[who].channel});
  routes_[who] = {
    from.from, from.what.channel, wanted.getCompression() == schema::Compression::SNAPPY, {}};
  by_channel_[{from.from.get(), from.what.channel}] = who;
  output_.open(who, wanted.getReceived(), wanted.getHandedOut());
  numbers_.streams = static_cast<uint32_t>(routes_.size());
  if (!runner_ && !ended_ && run_ == 0)
    start_runner();
  deal();
}

void task_state::on(const stream_cut& what) {
  for (auto& [who, route] : routes_) {
    if (route.over != what.from)
      continue;
    by_channel_.erase({what.from.get(), route.channel});
    route.over.reset();
    route.gone_at = now() + options_.consumer_lease;
    output_.cut(who);
  }
  arm();
}

void task_state::leave(consumer_id who) {
  auto at = routes_.find(who);
  if (at == routes_.end())
    return;
  if (at->second.over)
    by_channel_.erase({at->second.over.get(), at->second.channel});
  routes_.erase(at);
  output_.leave(who);
  numbers_.streams = static_cast<uint32_t>(routes_.size());
}

void task_state::deal() {
  const bool dry = dry_at_ && *dry_at_ <= now();
  for (const auto& action : output_.deal(dry))
    std::visit([this](const auto& what) { send(what); }, action);
  if (dry || !output_.could_recall())
    dry_at_.reset();
  if (!dry_at_ && output_.could_recall()) {
    dry_at_ = now() + patience;
    arm();
  }
  // The runner may go on by as much as was dealt.
  if (runner_) {
    const auto pending = output_.pending_bytes();
    if (taken_from_runner_ > pending) {
      runner_->taken(taken_from_runner_ - pending);
      taken_from_runner_ = pending;
    }
  }
  if (output_.finished() && !ended_) {
    ended_ = true;
    report({}, status{});
    return self_->quit();
  }
  if (now() >= reported_ + report_interval)
    report();
}

void task_state::send(const task_output::send_block& what) {
  auto& route = routes_.at(what.to);
  std::vector<buffer> payload;
  const auto header = stream_message::make([&](schema::StreamMessage::Builder b) {
    auto out = b.initBlock();
    out.setFirst(what.first);
    encode_block(what.rows, route.compress ? block_encoding::snappy : block_encoding::plain,
                 out.initBlock(), payload);
  });
  route.over->send({route.channel, header.bytes(), std::move(payload)});
}

void task_state::send(const task_output::send_recall& what) {
  auto& route = routes_.at(what.to);
  send_on(*route.over, route.channel, [&](schema::StreamMessage::Builder b) {
    auto out = b.initRecall();
    out.setId(what.id);
    out.setKeep(what.keep);
  });
}

void task_state::send(const task_output::send_end& what) {
  auto& route = routes_.at(what.to);
  send_on(*route.over, route.channel,
          [&](schema::StreamMessage::Builder b) { b.setEnd(what.elements); });
}

void task_state::report(std::optional<splits_wanted> wants, std::optional<status> ended) {
  reported_ = now();
  port::tell(parent_, make_local<task_report>(about_.id, about_.life, about_.job, numbers_,
                                              std::move(wants), std::move(ended)));
}

void task_state::arm() {
  std::optional<time_point> next;
  for (const auto& [who, route] : routes_)
    if (route.gone_at)
      next = next ? std::min(*next, *route.gone_at) : route.gone_at;
  if (dry_at_ && *dry_at_ > now())
    next = next ? std::min(*next, *dry_at_) : dry_at_;
  if (next)
    port::remind(self_, std::max(*next - now(), duration{0}), atom::deadline_v, ++armed_);
}

} // namespace headrace
