#include "headrace/actors/task/task_actor.hpp"

#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/actors/task/runner_actor.hpp"
#include "headrace/pipeline/codec/block_codec.hpp"
#include "headrace/pipeline/codec/block_sample.hpp"
#include "headrace/pipeline/graph/build.hpp"
#include "headrace/runtime/node/boot_id.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace headrace {

namespace {

/// How often a task that is busy tells its worker how far it is.
constexpr auto report_interval = std::chrono::milliseconds{200};
/// How long a trainer waits for production before others' rows are recalled for it.
constexpr auto patience = std::chrono::milliseconds{5};

/// What a consumer wants; one that leaves it to the workers gets what the dataset says.
compression asked_compression(schema::Compression x, const dataset_node& graph) {
  switch (x) {
  case schema::Compression::AUTO: {
    const auto said = options_of(graph).compression;
    return !said               ? compression::automatic
           : *said == "snappy" ? compression::snappy
                               : compression::none;
  }
  case schema::Compression::SNAPPY: return compression::snappy;
  default: return compression::none; // what we do not know, we do not use
  }
}

} // namespace

task_state::task_state(port::self_pointer<handle_type> self, task_definition about,
                       std::shared_ptr<task_memory> memory, worker_options options,
                       worker_handle parent, tree_place place, logger log)
  : self_(self),
    about_(std::move(about)),
    options_(std::move(options)),
    parent_(std::move(parent)),
    log_(log.with({{"task", about_.id}})),
    memory_(std::move(memory)),
    watcher_(self),
    team_(
      self, watcher_,
      {.path = place.path,
       .max_restarts = options_.restarts.max_restarts,
       .within = options_.restarts.within,
       .seed = about_.id.value},
      {.started = {},
       .ended =
         [this](const std::string&, const status& why) {
           if (!why.ok())
             log_.warn("runner crashed", {{"why", why}, {"produced", memory_->numbers.elements}});
         },
       .gave_up = [this](const status& why) { fail(why); },
       .dropped = {}},
      place.board) {}

port::behavior<task_handle> task_state::make_behavior() {
  team_.stop_before_owner();
  take_over();
  return {
    [this](const local<task_event>& what) {
      if (!ended_)
        std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (epoch != armed_ || ended_)
        return;
      std::vector<consumer_id> gone;
      for (const auto& [who, route] : memory_->routes)
        if (route.gone_at && *route.gone_at <= now())
          gone.push_back(who);
      for (auto who : gone) leave(who);
      arm();
      deal();
    },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

void task_state::take_over() {
  for (auto& [who, route] : memory_->routes) {
    if (route.over)
      send_failure(*route.over, route.channel,
                   not_found(fmt::format("task {} was started again: open the stream again",
                                         about_.id.value)));
    route.over.reset();
    route.gone_at = now() + options_.consumer_lease;
    memory_->change([&, who = who] { memory_->output.cut(who); });
  }
  arm();
  if (memory_->opened)
    start_runner();
}

// -- the runner -------------------------------------------------------------------

void task_state::start_runner() {
  memory_->opened = true;
  if (memory_->exhausted)
    return;
  if (auto how = team_.add({.id = "runner", .restart = restart_policy::transient},
                           [this](uint64_t number) { return run(number); });
      !how)
    fail(how);
}

result<caf::actor> task_state::run(uint64_t number) {
  run_ = number;
  asked_.reset();
  taken_from_runner_ = 0;
  runner_ = std::make_shared<runner>(runner::options{
    .graph = about_.graph,
    .seed = about_.seed,
    .repetition = about_.repetition,
    .leases_splits = about_.leases_splits,
    .replay = memory_->splits,
    .skip_rows = memory_->numbers.elements,
    .find_function = options_.find_function,
    .open_distribute = options_.open_distribute,
    .threads = options_.threads,
  });
  memory_->numbers.restarts += number > 1;
  const auto me = task_handle{self_};
  const auto tell = [me](task_event what) {
    port::tell(me, make_local<task_event>(std::move(what)));
  };
  runner::callbacks hear{
    .produced =
      [tell, number](block rows) {
        tell(rows_produced{number, std::move(rows)});
      },
    .wants_splits =
      [tell, number](const split_question& which, std::optional<uint64_t> total) {
        tell(splits_wanted{number, which, total});
      },
    .ended =
      [tell, number](status how) {
        tell(run_ended{number, std::move(how)});
      },
    .crashed = {},
  };
  return caf::actor_cast<caf::actor>(
    port::spawn<runner_state>(self_->system(), runner_, std::move(hear)));
}

void task_state::on(const rows_produced& what) {
  if (what.run != run_)
    return;
  const auto bytes = what.rows.bytes();
  memory_->change([&] {
    memory_->output.produced(what.rows);
    memory_->numbers.elements += what.rows.rows;
    memory_->numbers.bytes += bytes;
  });
  taken_from_runner_ += bytes;
  deal();
}

void task_state::on(const run_ended& what) {
  if (what.run != run_)
    return;
  if (!what.how.ok())
    return fail(what.how);
  memory_->exhausted = true;
  memory_->output.exhausted();
  deal();
}

void task_state::on(const splits_wanted& what) {
  if (what.run != run_)
    return;
  // An answer to an earlier runner may have come after this one had begun.
  if (const auto* known = memory_->splits.find(what.which))
    return runner_->give_splits(*known);
  asked_ = what.which;
  report(what);
}

void task_state::on(const splits_answered& what) {
  if (what.what)
    memory_->change([&] { memory_->splits.add(what.which, *what.what); });
  if (asked_ != what.which)
    return;
  asked_.reset();
  runner_->give_splits(what.what);
}

void task_state::fail(const status& why) {
  if (ended_)
    return;
  ended_ = true;
  log_.error("task failed", {{"why", why}});
  for (const auto& [who, route] : memory_->routes)
    if (route.over)
      send_failure(*route.over, route.channel, why);
  report({}, why);
  self_->quit();
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
    memory_->change([&] {
      memory_->output.grant(who, grant.getHandedOut(), grant.getElements(), grant.getBytes(),
                            grant.getWaiting());
    });
    break;
  }
  case schema::StreamMessage::RECALLED:
    memory_->change([&] {
      memory_->output.recalled(who, in->getRecalled().getId(), in->getRecalled().getMark());
    });
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
  auto& routes = memory_->routes;
  const bool again = routes.contains(who);
  if (!again && wanted.getReceived() != 0)
    return void(send_failure(*from.from, from.what.channel,
                             aborted("this stream was given up while its consumer was away")));
  if (again)
    by_channel_.erase({routes[who].over.get(), routes[who].channel});
  routes[who] = {from.from,
                 from.what.channel,
                 compression_choice{asked_compression(wanted.getCompression(), *about_.graph),
                                    from.from->peer_boot_id() == boot_id()},
                 {}};
  by_channel_[{from.from.get(), from.what.channel}] = who;
  memory_->change([&] { memory_->output.open(who, wanted.getReceived(), wanted.getHandedOut()); });
  memory_->numbers.streams = static_cast<uint32_t>(routes.size());
  if (!memory_->opened)
    start_runner();
  deal();
}

void task_state::on(const stream_cut& what) {
  for (auto& [who, route] : memory_->routes) {
    if (route.over != what.from)
      continue;
    by_channel_.erase({what.from.get(), route.channel});
    route.over.reset();
    route.gone_at = now() + options_.consumer_lease;
    memory_->change([&, who = who] { memory_->output.cut(who); });
  }
  arm();
}

void task_state::leave(consumer_id who) {
  auto& routes = memory_->routes;
  auto at = routes.find(who);
  if (at == routes.end())
    return;
  if (at->second.over)
    by_channel_.erase({at->second.over.get(), at->second.channel});
  routes.erase(at);
  memory_->change([&] { memory_->output.leave(who); });
  memory_->numbers.streams = static_cast<uint32_t>(routes.size());
}

void task_state::deal() {
  auto& output = memory_->output;
  const bool dry = dry_at_ && *dry_at_ <= now();
  for (const auto& action : memory_->change([&] { return output.deal(dry); }))
    std::visit([this](const auto& what) { send(what); }, action);
  if (dry || !output.could_recall())
    dry_at_.reset();
  if (!dry_at_ && output.could_recall()) {
    dry_at_ = now() + patience;
    arm();
  }
  // The runner may go on by as much as was dealt.
  if (runner_) {
    const auto pending = output.pending_bytes();
    if (taken_from_runner_ > pending) {
      runner_->taken(taken_from_runner_ - pending);
      taken_from_runner_ = pending;
    }
  }
  if (output.finished() && !ended_) {
    ended_ = true;
    report({}, status{});
    return self_->quit();
  }
  if (now() >= reported_ + report_interval)
    report();
}

void task_state::send(const task_output::send_block& what) {
  auto& route = memory_->routes.at(what.to);
  std::vector<buffer> payload;
  const auto header = stream_message::make([&](schema::StreamMessage::Builder b) {
    auto out = b.initBlock();
    out.setFirst(what.first);
    const bool packs =
      route.packing.next(what.rows.bytes(), [&] { return sampled_share(what.rows); });
    encode_block(what.rows, packs ? block_encoding::snappy : block_encoding::plain, out.initBlock(),
                 payload);
  });
  route.over->send({route.channel, header.bytes(), std::move(payload)});
}

void task_state::send(const task_output::send_recall& what) {
  auto& route = memory_->routes.at(what.to);
  send_on(*route.over, route.channel, [&](schema::StreamMessage::Builder b) {
    auto out = b.initRecall();
    out.setId(what.id);
    out.setKeep(what.keep);
  });
}

void task_state::send(const task_output::send_end& what) {
  auto& route = memory_->routes.at(what.to);
  send_on(*route.over, route.channel,
          [&](schema::StreamMessage::Builder b) { b.setEnd(what.elements); });
}

void task_state::report(std::optional<splits_wanted> wants, std::optional<status> ended) {
  reported_ = now();
  port::tell(parent_, make_local<task_report>(about_.id, about_.life, about_.job, memory_->numbers,
                                              wants, std::move(ended)));
}

void task_state::arm() {
  std::optional<time_point> next;
  for (const auto& [who, route] : memory_->routes)
    if (route.gone_at)
      next = next ? std::min(*next, *route.gone_at) : route.gone_at;
  if (dry_at_ && *dry_at_ > now())
    next = next ? std::min(*next, *dry_at_) : dry_at_;
  if (next)
    port::remind(self_, std::max(*next - now(), duration{0}), atom::deadline_v, ++armed_);
}

} // namespace headrace
