#include "tests/actors/world/trainer_process.hpp"

#include "tests/actors/world/world.hpp"

#include <algorithm>
#include <iterator>
#include <utility>
#include <variant>

namespace headrace::detail::test {

trainer_process::trainer_process(world& in, std::string name, options what)
  : virtual_process(in.time, std::move(name)), world_(in), options_(std::move(what)) {}

void trainer_process::on_started() {
  id_ = consumer_id{time_.below(UINT64_MAX) + 1};
  options_.reads.node = id_.value;
  out_ = std::make_shared<handout>([this] { woken_ = true; }, [this] { return now(); });
  core_ =
    std::make_unique<consumer_core>(options_.reads, id_, "dispatcher:1", out_, logger{}, now());
  dispatcher_ = std::make_unique<control_peer>(
    world_.net, *this, world_.dispatcher,
    [this](connection_end at) { world_.dispatcher.accepted(at); },
    control_peer::events{
      .up = [this] { carry_out(core_->dispatcher_up(now())); },
      .down = [this](const status& why) { carry_out(core_->dispatcher_down(why, now())); },
      .failed = [this](const status& why) { carry_out(core_->dispatcher_unreached(why, now())); }});
  carry_out(consume::commands{});
  after(duration{1}, [this] { take(); });
}

void trainer_process::on_killed() {
  if (!over()) {
    record_.killed = true;
    record_.ended_at = now();
  }
  core_.reset();
  dispatcher_.reset();
  links_.clear();
  routes_.clear();
  by_channel_.clear();
  current_.reset();
  unfinished_.clear();
}

// -- the trainer's thread -------------------------------------------------------------------

bool trainer_process::needs_no_more() const {
  return (options_.leaves_after && record_.handed_out.size() >= *options_.leaves_after)
         || (options_.leaves_at && !record_.rounds.empty()
             && record_.rounds.back() + 1 >= *options_.leaves_at);
}

void trainer_process::take() {
  if (over())
    return;
  for (uint64_t i = 0; i < options_.burst; ++i) {
    const auto row = current_ ? out_->claim() : -1;
    if (row >= 0) {
      record_.handed_out.push_back(
        current_->columns[0].values<int64_t>()[static_cast<size_t>(row)]);
      record_.handed_out_at.push_back(now().time_since_epoch().count());
      if (options_.reads.parameters.num_consumers != 0)
        record_.rounds.push_back(out_->rounds().round - 1);
      if (needs_no_more())
        break;
      continue;
    }
    status how;
    const auto next = out_->try_next(current_, how);
    if (next == handout::outcome::over) {
      end(how);
      break;
    }
    if (next == handout::outcome::nothing_yet)
      break;
  }
  if (needs_no_more() && !over())
    leave();
  // In a real process, another thread may be using the core at this time. So the core handles taken
  // elements only later, and the trainer may have taken more elements by then.
  if (woken_ && !record_.left && !std::exchange(looks_, true))
    after(time_.between(duration{1}, std::chrono::milliseconds{2}), [this] {
      looks_ = false;
      if (std::exchange(woken_, false) && !record_.left)
        carry_out_beside_the_actor(core_->trainer_moved(now()));
    });
  if (!over())
    after(time_.between(duration{1}, 2 * options_.pause + duration{1000}), [this] { take(); });
}

void trainer_process::leave() {
  record_.left = true;
  record_.ended_at = now();
  carry_out(core_->trainer_leaves(now()));
}

void trainer_process::end(const status& how) {
  record_.ended = how;
  record_.remark = out_->take_remark();
  record_.news = out_->take_news();
  record_.began = core_->knows_its_job();
  record_.ended_at = now();
  // The trainer leaves, as when its iterator is destroyed.
  carry_out(core_->trainer_leaves(now()));
}

// -- messages from others ---------------------------------------------------------------------

void trainer_process::note(const iteration_view& news) {
  if (!record_.job) {
    record_.job = news.job;
    const auto before = world_.collected.find({news.job, news.repetition});
    record_.collected = before != world_.collected.end() ? before->second : 0;
    record_.late = news.finished;
  }
  if (news.job != record_.job)
    return;
  for (const auto& task : news.tasks) record_.named.insert(task.data_address);
  record_.job_over |= news.finished;
  record_.losses = news.losses;
}

void trainer_process::told(const iteration_view& news) {
  note(news);
  carry_out(core_->told(news, now()));
}

void trainer_process::arrived(const connection_ptr& over, uint32_t channel, const from_task& what) {
  const auto at = by_channel_.find({over.get(), channel});
  if (at != by_channel_.end())
    carry_out_beside_the_actor(core_->arrived(at->second, what, now()));
}

// -- commands -----------------------------------------------------------------------------------

consume::commands trainer_process::carry_out_of_streams(const consume::commands& what) {
  consume::commands rest;
  const auto append = [&](const consume::commands& some) {
    for (const auto& one : some)
      if (std::holds_alternative<consume::open_stream>(one)
          || std::holds_alternative<consume::send>(one)
          || std::holds_alternative<consume::close_stream>(one))
        std::visit([this](const auto& x) { carry_out(x); }, one);
      else
        rest.push_back(one);
  };
  append(what);
  while (!not_opened_.empty())
    for (auto id : std::exchange(not_opened_, {}))
      append(core_->stream_cut(id, unavailable("the connection is over"), now()));
  return rest;
}

void trainer_process::carry_out(const consume::commands& what) {
  auto todo = std::exchange(unfinished_, {});
  std::ranges::move(carry_out_of_streams(what), std::back_inserter(todo));
  for (const auto& one : todo) std::visit([this](const auto& x) { carry_out(x); }, one);
  reminder_ = core_->next_deadline();
  alarm_.set(reminder_, [this] { carry_out(core_->timer(now())); });
}

void trainer_process::carry_out_beside_the_actor(const consume::commands& what) {
  std::ranges::move(carry_out_of_streams(what), std::back_inserter(unfinished_));
  const auto next = core_->next_deadline();
  const bool is_earlier = next && (!reminder_ || *next < *reminder_);
  if ((unfinished_.empty() && !is_earlier) || std::exchange(announced_, true))
    return;
  after(time_.between(duration{1}, std::chrono::milliseconds{2}), [this] {
    announced_ = false;
    carry_out(consume::commands{});
  });
}

void trainer_process::carry_out(const consume::ask& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), options_.reads.worker_timeout,
    [&d, what, at = connection_end{dispatcher_->get().over, 1}, this](replier reply) {
      d.open(what.what, at, [reply, what, this](const result<iteration_view>& answer) {
        reply([this, what, answer] {
          if (answer)
            note(*answer);
          carry_out(core_->answered(what.number, answer, now()));
        });
      });
    },
    [this, what] {
      carry_out(core_->unanswered(what.number, deadline_exceeded("no answer"), false, now()));
    });
}

void trainer_process::carry_out(const consume::beat& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), core_->timing().lease,
    [&d, what, at = connection_end{dispatcher_->get().over, 1}, this](replier reply) {
      d.heartbeat(what.what, at, [reply, what, this](const status& answer) {
        reply(
          [this, what, answer] { carry_out(core_->heartbeat_answered(answer, what.at, now())); });
      });
    },
    [this] { carry_out(core_->heartbeat_unanswered(deadline_exceeded("no answer"))); });
}

void trainer_process::carry_out(const consume::say_goodbye& what) {
  auto& d = world_.dispatcher;
  request(
    dispatcher_->get(), core_->timing().lease,
    [&d, what, this](replier reply) {
      d.leave(what.what, [reply, this](const status& answer) {
        reply([this, answer] {
          record_.goodbye_heard |= answer.ok();
          carry_out(core_->goodbye_answered(answer, now()));
        });
      });
    },
    [this] { carry_out(core_->goodbye_unanswered(deadline_exceeded("no answer"), now())); });
}

void trainer_process::carry_out(const consume::quit&) {}

void trainer_process::carry_out(const consume::renew_dispatcher& what) {
  dispatcher_->renew(what.why);
}

void trainer_process::carry_out(const consume::make_link& what) {
  const auto at = links_.find(what.address);
  if (at != links_.end() && at->second)
    return after(duration{1000}, [this, address = what.address] {
      if (const auto at = links_.find(address); at != links_.end() && at->second) {
        fresh_ = at->second;
        carry_out(core_->linked(address, now()));
      } else {
        make_link(address);
      }
    });
  make_link(what.address);
}

void trainer_process::make_link(const std::string& address) {
  if (std::exchange(making_[address], true))
    return;
  auto* to = world_.worker_at(address);
  world_.net.connect(
    plane::data, *this, *to, [to](connection_end at) { to->accepted_link(at); },
    [this, address](result<connection_end> made) {
      making_[address] = false;
      if (!made)
        return carry_out(core_->not_linked(address, made.status(), now()));
      links_[address] = *made;
      made->over->ends[0].on_closed = [this, address, over = made->over.get()](const status& why) {
        if (const auto at = links_.find(address); at->second.over.get() == over)
          links_.erase(at);
        std::vector<task_id> cut;
        for (const auto& [id, where] : routes_)
          if (where.over.over.get() == over)
            cut.push_back(id);
        for (auto id : cut) {
          by_channel_.erase({over, routes_.at(id).channel});
          routes_.erase(id);
          carry_out_beside_the_actor(core_->stream_cut(id, why, now()));
        }
      };
      fresh_ = *made;
      carry_out(core_->linked(address, now()));
    });
}

void trainer_process::carry_out(const consume::open_stream& what) {
  if (!fresh_)
    return not_opened_.push_back(what.task);
  const auto channel = ++last_channel_;
  routes_[what.task] = {fresh_, channel};
  by_channel_[{fresh_.over.get(), channel}] = what.task;
}

void trainer_process::carry_out(const consume::send& what) {
  const auto at = routes_.find(what.task);
  if (at == routes_.end())
    return;
  if (const auto* grant = std::get_if<stream_grant>(&what.what))
    windows_[what.task] = grant->elements - std::min(grant->elements, grant->handed_out);
  const auto& over = at->second.over;
  auto* to = static_cast<worker_process*>(over.over->ends[1].who);
  world_.net.send(over, [to, over, channel = at->second.channel, what = what.what] {
    to->stream_arrived({over.over, 1}, channel, what);
  });
}

void trainer_process::carry_out(const consume::close_stream& what) {
  const auto at = routes_.find(what.task);
  if (at == routes_.end())
    return;
  windows_.erase(what.task);
  by_channel_.erase({at->second.over.over.get(), at->second.channel});
  routes_.erase(at);
}

std::optional<uint64_t> trainer_process::fair_window() const {
  const auto most = options_.reads.max_outstanding;
  if (most == 0 || !options_.reads.job_name.empty() || routes_.empty()
      || core_->live_streams() == 0)
    return {};
  return std::max<uint64_t>(static_cast<uint64_t>(most) / core_->live_streams(), 1);
}

std::optional<uint64_t> trainer_process::smallest_window() const {
  std::optional<uint64_t> out;
  for (const auto& [id, where] : routes_)
    if (const auto at = windows_.find(id); at != windows_.end() && core_->is_live(id))
      out = std::min(out.value_or(UINT64_MAX), at->second);
  return out;
}

} // namespace headrace::detail::test
