#include "headrace/actors/task/task_actor.hpp"
#include "headrace/pipeline/graph/graph_options.hpp"

#include "headrace/actors/protocol/codec/stream_codec.hpp"
#include "headrace/actors/task/runner_actor.hpp"
#include "headrace/pipeline/makers/dataset_makers.hpp"
#include "headrace/runtime/base/boot_id.hpp"

#include <iterator>
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
           .seed = memory_->core.order().id.value},
          {.started = {},
           .ended =
             [this](const std::string&, const status& why) {
               if (!why.ok())
                 handle([&](task_core& core) { return core.runner_crashed(why, now()); });
             },
           .gave_up =
             [this](const status& why) {
               handle([&](task_core& core) { return core.runner_spent(why, now()); });
             },
           .dropped = {}},
          place.board) {}

task_state::~task_state() {
  // The runner's thread deals no more rows, because no actor would carry out its commands.
  std::lock_guard hold{memory_->mutex};
  if (number_ != memory_->actors)
    return; // the next actor uses the memory
  memory_->actor = 0;
  memory_->now = nullptr;
  memory_->announce = nullptr;
}

port::behavior<task_handle> task_state::make_behavior() {
  team_.stop_before_owner();
  {
    std::lock_guard hold{memory_->mutex};
    memory_->actor = number_ = ++memory_->actors;
    memory_->now = [this] { return now(); };
    memory_->announce = [me = task_handle{self_}] {
      port::tell(me, make_local<task_event>(work_left{}));
    };
    memory_->reminder.reset();
    memory_->announced = false;
    memory_->thrown = nullptr;
    memory_->waiting.clear(); // the next runner produces them again
    memory_->core.when_room_comes(
      [me = task_handle{self_}] { port::tell(me, make_local<task_event>(room_came{})); });
  }
  handle([&](task_core& core) { return core.taken_over(now()); });
  {
    std::lock_guard hold{memory_->mutex};
    memory_->routes.clear();
    memory_->by_channel.clear();
  }
  return {
    [this](const local<task_event>& what) {
      std::visit([this](const auto& event) { on(event); }, *what);
    },
    [this](atom::deadline, uint64_t epoch) {
      if (alarm_.due(epoch))
        handle([&](task_core& core) { return core.timer(now()); });
    },
    [this](atom::supervise, uint64_t epoch) { team_.timer(epoch); },
  };
}

result<caf::actor> task_state::run(uint64_t number) {
  std::unique_lock hold{memory_->mutex};
  const auto& core = memory_->core;
  HEADRACE_ASSIGN(auto start, memory_->core.runner_begins(number));
  hold.unlock();
  const auto& order = core.order();
  runner_ = std::make_shared<runner>(runner::options{
    .graph = core.graph(),
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
    .ignored = core.ignored(),
    .profile = core.profile(),
  });
  const auto tell = [me = task_handle{self_}](task_event what) {
    port::tell(me, make_local<task_event>(std::move(what)));
  };
  runner::callbacks hear{
    // The pointer is weak, so that a thread stuck in foreign code does not keep the memory alive.
    .produced =
      [memory = std::weak_ptr{memory_}, actor = number_, number](block rows, duration took) {
        const auto of = memory.lock();
        return of ? deal_rows(*of, actor, number, std::move(rows), took) : 0;
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

template <class Event>
void task_state::handle(Event&& event) {
  produce::commands todo;
  {
    std::lock_guard hold{memory_->mutex};
    try {
      if (memory_->thrown)
        std::rethrow_exception(std::exchange(memory_->thrown, nullptr));
      auto dealt = memory_->deal_waiting(now());
      auto more = memory_->send(event(memory_->core), now());
      todo = std::exchange(memory_->left, {});
      for (auto* from : {&dealt, &more})
        todo.insert(todo.end(), std::move_iterator{from->begin()}, std::move_iterator{from->end()});
    } catch (...) {
      memory_->actor = 0; // no more rows are dealt until the next actor has taken over
      throw;
    }
  }
  carry_out(todo);
}

void task_state::on(const work_left&) {
  {
    std::lock_guard hold{memory_->mutex};
    memory_->announced = false;
  }
  handle([](task_core&) { return produce::commands{}; });
}

void task_state::on(const run_done& what) {
  std::lock_guard hold{memory_->mutex};
  memory_->core.run_done(what);
}

void task_state::on(const run_ended& what) {
  handle([&](task_core& core) {
    return core.run_ended(what.run, what.how, runner_ && !runner_->exhausted(), now());
  });
}

void task_state::on(const splits_wanted& what) {
  handle([&](task_core& core) { return core.splits_wanted(what, now()); });
}

void task_state::on(const splits_answered& what) {
  handle([&](task_core& core) { return core.splits_answered(what.which, what.what, now()); });
}

void task_state::on(const worker_leaves&) {
  handle([&](task_core& core) { return core.worker_leaves(now()); });
}

void task_state::on(const task_stops& what) {
  handle([&](task_core& core) { return core.stop(what.reason); });
}

void task_state::on(const readers_named& what) {
  handle([&](task_core& core) { return core.readers_named(what.who, now()); });
}

void task_state::on(const room_came&) {
  handle([&](task_core& core) { return core.room_came(now()); });
}

void task_state::on(const stream_arrived& what) {
  const auto said = read_from_consumer(what.what);
  handle([&](task_core& core) { return arrived(core, what, said); });
}

produce::commands task_state::arrived(task_core& core, const stream_arrived& what,
                                      result<from_consumer> said) {
  if (core.over())
    return {};
  const std::pair channel{what.from.get(), what.what.channel};
  auto at = memory_->by_channel.find(channel);
  auto* first = said ? std::get_if<stream_open>(&*said) : nullptr;
  if (at == memory_->by_channel.end() && said && first == nullptr)
    return {}; // the stream is closed
  if (at == memory_->by_channel.end()) {
    const produce::stream_key fresh{++memory_->last_key};
    at = memory_->by_channel.emplace(channel, fresh).first;
    memory_->routes[fresh] = {what.from, what.what.channel, {}};
  }
  const auto key = at->second;
  if (first != nullptr)
    first->node = what.from->peer_node();
  if (first != nullptr)
    memory_->routes.at(key).packing = {packing_of(*first, *core.graph()),
                                       what.from->peer_boot_id() == boot_id()};
  auto todo = memory_->send(core.arrived(key, said, now()), now());
  // When the stream is closed, the link may use the channel for another stream.
  if (said && std::holds_alternative<stream_close>(*said)) {
    memory_->by_channel.erase(channel);
    memory_->routes.erase(key);
  }
  return todo;
}

void task_state::on(const stream_cut& what) {
  handle([&](task_core& core) { return cut(core, what); });
}

produce::commands task_state::cut(task_core& core, const stream_cut& what) {
  produce::commands todo;
  if (core.over())
    return todo;
  std::vector<produce::stream_key> cut;
  for (const auto& [key, route] : memory_->routes)
    if (route.over == what.from)
      cut.push_back(key);
  for (auto key : cut) {
    const auto at = memory_->routes.find(key);
    memory_->by_channel.erase({what.from.get(), at->second.channel});
    memory_->routes.erase(at);
    auto more = core.stream_cut(key, now());
    todo.insert(todo.end(), std::move_iterator{more.begin()}, std::move_iterator{more.end()});
  }
  return todo;
}

// -- commands -----------------------------------------------------------------------------

void task_state::carry_out(const produce::commands& what) {
  for (const auto& one : what) std::visit([this](const auto& x) { carry_out(x); }, one);
  std::lock_guard hold{memory_->mutex};
  alarm_.set(self_, atom::deadline_v, memory_->core.next_deadline());
  memory_->reminder = alarm_.armed();
}

void task_state::carry_out(const produce::start_runner&) {
  if (auto how = team_.add({.id = "runner", .restart = restart_policy::transient},
                           [this](uint64_t number) { return run(number); });
      !how)
    handle([&](task_core& core) { return core.runner_spent(how, now()); });
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
  const auto unread = runner_->leave();
  handle([&](task_core& core) {
    // The runner's thread may have ended the task meanwhile.
    return core.over() ? produce::commands{} : core.runner_left(unread, now());
  });
}

void task_state::carry_out(const produce::report& what) {
  port::tell(parent_, make_local<task_report>(what.what));
}

void task_state::carry_out(const produce::end&) { self_->quit(); }

} // namespace headrace::detail
