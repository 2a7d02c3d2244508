#include "headrace/actors/task/task_actor.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"

#include "headrace/actors/protocol/stream_codec.hpp"
#include "headrace/actors/stream/stream_message.hpp"
#include "headrace/actors/task/runner_actor.hpp"
#include "headrace/pipeline/codec/block_sample.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/runtime/base/boot_id.hpp"

#include <fmt/format.h>

#include <utility>

namespace headrace::detail {

namespace {

/// The compression that a consumer has requested; if it leaves the choice to the workers, the
/// option of the dataset.
compression packing_of(const stream_open& what, const dataset_node& graph) {
  return what.packing == compression::automatic
           ? options_of(graph).compression.value_or(compression::automatic)
           : what.packing;
}

} // namespace

void task_memory::give_up(const status& why) {
  for (const auto& what : core.give_up(why))
    if (const auto* last = std::get_if<produce::send>(&what))
      if (const auto at = routes.find(last->over); at != routes.end())
        at->second.over->send(write_message(at->second.channel, last->what));
}

task_state::task_state(port::self_pointer<handle_type> self, std::shared_ptr<task_memory> memory,
                       task_surroundings options, worker_handle parent, tree_place place, logger)
  : self_(self),
    options_(std::move(options)),
    parent_(std::move(parent)),
    memory_(std::move(memory)),
    watcher_(self),
    team_(self, watcher_,
          {.path = place.path,
           .max_restarts = options_.restarts.max_restarts,
           .within = options_.restarts.within,
           .seed = core().order().id.value},
          {.started = {},
           .ended =
             [this](const std::string&, const status& why) {
               if (!why.ok())
                 carry_out(core().runner_crashed(why, now()));
             },
           .gave_up = [this](const status& why) { carry_out(core().runner_spent(why, now())); },
           .dropped = {}},
          place.board) {}

port::behavior<task_handle> task_state::make_behavior() {
  team_.stop_before_owner();
  core().when_room_comes(
    [me = task_handle{self_}] { port::tell(me, make_local<task_event>(room_came{})); });
  carry_out(core().taken_over(now()));
  memory_->routes.clear();
  memory_->by_channel.clear();
  return {
    [this](const local<task_event>& what) {
      if (!core().over())
        std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (alarm_.due(epoch))
        carry_out(core().timer(now()));
    },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

result<caf::actor> task_state::run(uint64_t number) {
  HEADRACE_ASSIGN(auto start, core().runner_begins(number));
  const auto& order = core().order();
  runner_ = std::make_shared<runner>(runner::options{
    .graph = core().graph(),
    .seed = order.seed,
    .repetition = order.repetition,
    .leases_splits = order.policy == sharding_policy::dynamic,
    .policy = order.policy,
    .shard = {.shards = order.shards,
              .index = order.shard,
              .run = std::max<int64_t>(order.num_consumers, 1)},
    .replay = std::move(start.replay),
    .leaving = start.leaving,
    .skip_rows = start.skip_rows,
    .says_done = order.guarantee == delivery_guarantee::at_least_once,
    .find_function = options_.find_function,
    .open_distribute = options_.open_distribute,
    .threads = options_.threads,
    .ignored = core().ignored(),
    .profile = core().profile(),
  });
  const auto tell = [me = task_handle{self_}](task_event what) {
    port::tell(me, make_local<task_event>(std::move(what)));
  };
  runner::callbacks hear{
    .produced =
      [tell, number](block rows) {
        tell(rows_produced{number, std::move(rows)});
      },
    .wants_splits =
      [tell, number](splits_wish wish) {
        tell(splits_wanted{number, std::move(wish)});
      },
    .done =
      [tell, number](uint64_t rows, std::vector<splits_done> splits) {
        tell(run_done{number, rows, std::move(splits)});
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

// -- events -----------------------------------------------------------------------------

void task_state::on(const rows_produced& what) {
  carry_out(core().produced(what.run, what.rows, now()));
}

void task_state::on(const run_done& what) { core().run_done(what); }

void task_state::on(const run_ended& what) {
  carry_out(core().run_ended(what.run, what.how, runner_ && !runner_->exhausted(), now()));
}

void task_state::on(const splits_wanted& what) { carry_out(core().splits_wanted(what, now())); }

void task_state::on(const splits_answered& what) {
  carry_out(core().splits_answered(what.which, what.what, now()));
}

void task_state::on(const worker_leaves&) { carry_out(core().worker_leaves(now())); }

void task_state::on(const task_stops& what) { carry_out(core().stop(what.reason)); }

void task_state::on(const readers_named& what) { carry_out(core().readers_named(what.who, now())); }

void task_state::on(const room_came&) { carry_out(core().room_came(now())); }

void task_state::on(const stream_arrived& what) {
  auto said = read_from_consumer(what.what);
  const std::pair channel{what.from.get(), what.what.channel};
  auto at = memory_->by_channel.find(channel);
  auto* first = said ? std::get_if<stream_open>(&*said) : nullptr;
  if (at == memory_->by_channel.end() && said && first == nullptr)
    return; // the stream is closed
  if (at == memory_->by_channel.end()) {
    const produce::stream_key fresh{++memory_->last_key};
    at = memory_->by_channel.emplace(channel, fresh).first;
    memory_->routes[fresh] = {what.from, what.what.channel, {}};
  }
  const auto key = at->second;
  if (first != nullptr)
    first->node = what.from->peer_node();
  if (first != nullptr)
    memory_->routes.at(key).packing = {packing_of(*first, *core().graph()),
                                       what.from->peer_boot_id() == boot_id()};
  carry_out(core().arrived(key, said, now()));
  // When the stream is closed, the link may use the channel for another stream.
  if (said && std::holds_alternative<stream_close>(*said)) {
    memory_->by_channel.erase(channel);
    memory_->routes.erase(key);
  }
}

void task_state::on(const stream_cut& what) {
  std::vector<produce::stream_key> cut;
  for (const auto& [key, route] : memory_->routes)
    if (route.over == what.from)
      cut.push_back(key);
  for (auto key : cut) {
    const auto at = memory_->routes.find(key);
    memory_->by_channel.erase({what.from.get(), at->second.channel});
    memory_->routes.erase(at);
    carry_out(core().stream_cut(key, now()));
  }
}

// -- commands -----------------------------------------------------------------------------

void task_state::carry_out(const produce::commands& what) {
  for (const auto& one : what) std::visit([this](const auto& x) { carry_out(x); }, one);
  alarm_.set(self_, atom::deadline_v, core().next_deadline());
}

void task_state::carry_out(const produce::send& what) {
  const auto at = memory_->routes.find(what.over);
  if (at == memory_->routes.end())
    return;
  auto& to = at->second;
  if (const auto* rows = std::get_if<stream_block>(&what.what))
    return send(to, *rows);
  to.over->send(write_message(to.channel, what.what));
}

void task_state::send(task_memory::route& to, const stream_block& what) {
  if (failed_to_send_)
    return;
  if (to.over->in_process())
    return void(to.over->send(share_block(to.channel, what)));
  const auto& rows = what.rows;
  const bool packs = to.packing.next(rows.bytes(), [&] { return sampled_share(rows); });
  auto carrier = write_block(to.channel, what, packs);
  const auto fits = to.over->limits().check(carrier);
  if (fits)
    return void(to.over->send(std::move(carrier)));
  if (const auto half = rows.rows / 2; half != 0) {
    send(to, {.first = what.first,
              .rows = rows.slice(0, half),
              .skipped = what.skipped,
              .claimed = what.claimed});
    return send(to, {.first = what.first + half,
                     .rows = rows.slice(half, rows.rows - half),
                     .skipped = what.skipped,
                     .claimed = what.claimed});
  }
  failed_to_send_ = true;
  carry_out(core().cannot_send(
    resource_exhausted(
      fmt::format("an element of {} bytes cannot be sent: {}; make elements of fewer or smaller "
                  "components",
                  carrier.byte_size(), fits.message())),
    now()));
}

void task_state::carry_out(const produce::close_link& what) {
  if (const auto at = memory_->routes.find(what.over); at != memory_->routes.end())
    at->second.over->close(what.why);
}

void task_state::carry_out(const produce::start_runner&) {
  if (auto how = team_.add({.id = "runner", .restart = restart_policy::transient},
                           [this](uint64_t number) { return run(number); });
      !how)
    carry_out(core().runner_spent(how, now()));
}

void task_state::carry_out(const produce::give_splits& what) {
  if (runner_)
    runner_->give_splits(what.which, what.what);
}

void task_state::carry_out(const produce::take_over_bytes& what) {
  if (runner_)
    runner_->taken(what.bytes);
}

void task_state::carry_out(const produce::leave_runner&) {
  carry_out(core().runner_left(runner_->leave(), now()));
}

void task_state::carry_out(const produce::report& what) {
  port::tell(parent_, make_local<task_report>(what.what));
}

void task_state::carry_out(const produce::end&) { self_->quit(); }

} // namespace headrace::detail
