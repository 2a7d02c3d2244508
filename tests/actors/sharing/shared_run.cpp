#include "tests/actors/sharing/shared_run.hpp"

#include "tests/pipeline/support/rows.hpp"

#include <fmt/format.h>

namespace headrace::test::sharing {

namespace {

/// Far longer than any of these runs takes: who waits so long waits for ever.
constexpr auto patience = std::chrono::seconds{60};

} // namespace

shared_run::shared_run(dataset_ptr graph, uint64_t seed, const options& how)
  : graph_(std::move(graph)),
    plan_(plan_splits(graph_)),
    random_(seed),
    options_(how),
    job_(processing_mode::dynamic, plan_) {
  for (size_t i = 0; i < options_.workers; ++i) {
    const auto who = test::worker(++last_worker_);
    alive_.emplace(who.id, who);
  }
}

shared_run::~shared_run() {
  for (auto& [id, x] : workers_) x.runs->stop();
}

std::vector<worker_info> shared_run::alive() const {
  std::vector<worker_info> out;
  for (const auto& [id, x] : alive_) out.push_back(x);
  return out;
}

void shared_run::run() {
  carry_out(job_.carry_out(job_.r().core.consumer_joined(consumer_id{1}, alive())));
  while (!job_.r().core.finished() && !::testing::Test::HasFailure()) {
    if (options_.accidents && random_() % 24 == 0)
      accident();
    if (job_.r().core.finished())
      break;
    if (workers_.empty())
      join(); // all left or died: it is for a worker to come
    else if (!step())
      break;
  }
  EXPECT_TRUE(job_.r().core.finished()) << "it never ends";
  EXPECT_TRUE(job_.r().core.failure().ok()) << to_string(job_.r().core.failure());
}

bool shared_run::step() {
  std::optional<event> what;
  worker* from = nullptr;
  {
    std::unique_lock lock{mail_->mutex};
    std::vector<task_id> ready;
    const auto look = [&] {
      ready.clear();
      for (const auto& [id, x] : workers_)
        if (x.paused == 0 && !mail_->said[id].empty())
          ready.push_back(id);
      return !ready.empty();
    };
    for (auto& [id, x] : workers_)
      if (x.paused != 0)
        --x.paused;
    if (!look()) {
      for (auto& [id, x] : workers_) x.paused = 0;
      if (!mail_->changed.wait_for(lock, patience, look)) {
        ADD_FAILURE() << "every task waits, or works in vain: " << waiting_.size()
                      << " questions are open, of " << workers_.size() << " tasks";
        return false;
      }
    }
    const auto id = ready[random_() % ready.size()];
    from = &workers_.at(id);
    what = std::move(mail_->said[id].front());
    mail_->said[id].pop_front();
  }
  std::visit([&](auto& x) { on(*from, std::move(x)); }, *what);
  return true;
}

void shared_run::accident() {
  const auto some = [&]() -> worker* {
    if (workers_.empty())
      return nullptr;
    auto at = workers_.begin();
    std::advance(at, static_cast<long>(random_() % workers_.size()));
    return &at->second;
  };
  auto* who = some();
  switch (random_() % 5) {
  case 0:
  case 1:
    if (last_worker_ < options_.most_workers)
      join();
    break;
  case 2:
    if (who != nullptr)
      who->paused = random_() % 60;
    break;
  case 3:
    if (who != nullptr && !who->unread) {
      alive_.erase(who->about.id);
      who->unread = who->runs->leave();
      tasks_.at(who->task).given.leave();
      who->asks.clear();
    }
    break;
  default:
    if (who != nullptr && options_.deaths && random_() % 2 == 0) {
      const auto id = who->about.id;
      alive_.erase(id);
      carry_out(job_.carry_out(job_.r().core.worker_lost(id, job_.rest(alive()))));
    }
  }
}

void shared_run::join() {
  const auto who = test::worker(++last_worker_);
  alive_.emplace(who.id, who);
  carry_out(job_.carry_out(job_.r().core.worker_joined(who)));
}

void shared_run::carry_out(const iteration::commands& todo) {
  for (auto id : todo.forget) {
    std::erase_if(waiting_, [&](const auto& x) { return x.first == id; });
    auto gone = workers_.extract(id);
    if (!gone)
      continue;
    gone.mapped().runs->stop();
    if (tasks_.at(id).how == task::fate::runs)
      tasks_.at(id).how = task::fate::died;
  }
  for (const auto& x : todo.start) {
    start(x);
    carry_out(job_.carry_out(job_.r().core.task_started(x.id, {}, job_.rest(alive()))));
  }
  settle();
}

void shared_run::start(const iteration::task& what) {
  tasks_.try_emplace(what.id, plan_);
  worker fresh{what.worker, what.id, nullptr};
  fresh.runs = std::make_shared<runner>(runner::options{
    .graph = graph_, .seed = 42, .leases_splits = true, .find_function = test::find_function});
  const auto& runs = workers_.emplace(what.id, std::move(fresh)).first->second.runs;
  const auto say = [mail = mail_, id = what.id](event x) {
    std::lock_guard lock{mail->mutex};
    mail->said[id].push_back(std::move(x));
    mail->changed.notify_all();
  };
  runs->start({.produced = [say](block rows) { say(std::move(rows)); },
               .wants_splits = [say](splits_wish wish) { say(std::move(wish)); },
               .ended = [say](status how) { say(std::move(how)); },
               .crashed = [say](status why) { say(std::move(why)); }});
}

void shared_run::on(worker& from, block rows) {
  auto& to = tasks_.at(from.task).rows;
  for (size_t i = 0; i < rows.rows; ++i) {
    auto text = row_text(rows, i);
    to.push_back(text[0] == '!' ? "!" : std::move(text));
  }
  from.runs->taken(rows.bytes());
}

void shared_run::on(worker& from, splits_wish wish) {
  if (wish.closes) {
    std::vector<job_core::fact> facts;
    for (auto& x : job_.r().splits.close(from.task, *wish.closes)) {
      if (const auto* back = std::get_if<split_assigner::returned>(&x))
        note_return(from.task, *back);
      facts.push_back({0, std::move(x)});
    }
    job_.commit(facts);
    // Said twice, it means nothing.
    EXPECT_TRUE(job_.r().splits.close(from.task, *wish.closes).empty());
    from.runs->give_splits(wish.which, split_answer{});
  } else {
    if (!from.unread)
      from.asks.insert(wish.which);
    waiting_.emplace_back(from.task, std::move(wish));
  }
  settle();
}

void shared_run::on(worker& from, const status& how) {
  EXPECT_TRUE(how.ok()) << to_string(how);
  const auto id = from.task;
  auto& mine = tasks_.at(id);
  std::erase_if(waiting_, [&](const auto& x) { return x.first == id; });
  const auto& core = job_.r().core;
  const auto life = core.tasks().at(id).life;
  iteration::commands todo;
  if (from.unread) {
    mine.how = task::fate::left;
    for (const auto& back : job_.leave(id, *from.unread, alive(), todo)) note_return(id, back);
  } else {
    mine.how = task::fate::ended;
    mine.by_itself = !from.runs->exhausted();
    todo = job_.carry_out(core.task_ended(id, life, {1}, how, job_.rest(alive()), mine.by_itself));
  }
  carry_out(todo);
}

void shared_run::settle() {
  for (bool moved = true; moved;) {
    moved = false;
    std::set<task_id> blocked;
    for (const auto& [id, wish] : waiting_) blocked.insert(id);
    for (auto at = waiting_.begin(); at != waiting_.end(); ++at) {
      const auto& [id, wish] = *at;
      const lease_request wanted{id,         wish.which.source,     wish.which.pass,
                                 wish.total, wish.which.number + 1, wish.listing};
      EXPECT_EQ(job_.r().splits.refused(wanted, "w"), status{});
      const auto given = job_.ask(wanted, blocked);
      if (!given)
        continue;
      if (given->splits)
        note_lease(id, wish.which.source, wish.which.pass, *given->splits);
      auto& from = workers_.at(id);
      // One that leaves does not hear it any more.
      if (from.asks.erase(wish.which) != 0) {
        tasks_.at(id).given.answered(wish.which.source, wish.which.pass, given->splits);
        from.runs->give_splits(wish.which, given->splits);
      }
      waiting_.erase(at);
      moved = true;
      break;
    }
  }
}

void shared_run::note_lease(task_id to, uint32_t source, uint64_t pass, const split_range& what) {
  for (auto i = what.first; i < what.first + what.count; ++i) {
    const auto fresh = leased_[{source, pass}].insert(i).second;
    EXPECT_TRUE(fresh) << "split " << i << " of source " << source << ", pass " << pass
                       << ", was leased again, to task " << to.value;
    returned_[{source, pass}].erase(i);
  }
}

void shared_run::note_return(task_id from, const split_assigner::returned& what) {
  tasks_.at(from).given.gave_back(what.source, what.pass, what.splits);
  const auto group = plan_.sources[what.source].group;
  for (uint32_t source = 0; source < plan_.sources.size(); ++source) {
    if (plan_.sources[source].group != group)
      continue;
    for (auto i = what.splits.first; i < what.splits.first + what.splits.count; ++i)
      if (leased_[{source, what.pass}].erase(i) != 0)
        returned_[{source, what.pass}].insert(i);
  }
}

} // namespace headrace::test::sharing
