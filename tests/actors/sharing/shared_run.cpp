#include "tests/actors/sharing/shared_run.hpp"

#include "tests/pipeline/support/rows.hpp"

#include <fmt/format.h>

namespace headrace::detail::test::sharing {

namespace {

/// A wait that takes longer counts as endless. No run takes nearly as long.
constexpr auto patience = std::chrono::seconds{60};

std::vector<worker_info> first_workers(size_t count) {
  std::vector<worker_info> out;
  for (size_t i = 1; i <= count; ++i) out.push_back(test::worker(i));
  return out;
}

} // namespace

shared_run::shared_run(dataset_ptr graph, uint64_t seed, const options& how)
  : graph_(std::move(graph)),
    plan_(plan_splits(graph_)),
    random_(seed),
    options_(how),
    job_(sharding_policy::dynamic, plan_, first_workers(options_.workers)) {
  for (const auto& who : first_workers(options_.workers)) alive_.insert(who.id);
  last_worker_ = options_.workers;
}

shared_run::~shared_run() {
  for (auto& [id, x] : workers_) x.runs->stop();
}

void shared_run::run() {
  carry_out(job_.open(1));
  // After this number of steps there are no accidents: otherwise no task would live long enough to
  // get the hundreds of leases that some graphs need for the elements of a `take`.
  constexpr size_t eventful = 5'000;
  for (size_t steps = 0; !job_.state().finished() && !::testing::Test::HasFailure(); ++steps) {
    if (options_.accidents && steps < eventful && random_() % 24 == 0)
      accident();
    // The longest time for which a job delays an announcement. A timer of the job that is due
    // within this time is run at once.
    constexpr duration moment = std::chrono::milliseconds{50};
    if (const auto due = job_.core.next_deadline(); due && *due <= job_.now + moment)
      carry_out(job_.pass(std::max(*due - job_.now, duration{0})));
    if (job_.state().finished())
      break;
    if (workers_.empty())
      join(); // all tasks left or were lost, so another worker must join
    else if (!step())
      break;
  }
  EXPECT_TRUE(job_.state().finished()) << "it never ends";
  EXPECT_TRUE(job_.state().failure().ok()) << to_string(job_.state().failure());
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
      alive_.erase(who->about);
      who->unread = who->runs->leave();
      tasks_.at(who->order.id).given.leave(*who->unread);
      who->asks.clear();
    }
    break;
  default:
    if (who != nullptr && options_.deaths && random_() % 2 == 0) {
      const auto id = who->about;
      alive_.erase(id);
      carry_out(job_.lost(id));
    }
  }
}

void shared_run::join() {
  const auto who = test::worker(++last_worker_);
  alive_.insert(who.id);
  carry_out(job_.came(who));
}

void shared_run::carry_out(const job_outcome& what, task_id from) {
  for (auto at = workers_.begin(); at != workers_.end();) {
    const auto id = at->first;
    if (job_.state().tasks().at(id).alive()) {
      ++at;
      continue;
    }
    at->second.runs->stop();
    if (tasks_.at(id).how == task::fate::runs)
      tasks_.at(id).how = task::fate::died;
    at = workers_.erase(at);
  }
  for (const auto& x : what.stored)
    if (const auto* fact = std::get_if<split_assigner::fact>(&x.what))
      if (const auto* back = std::get_if<split_assigner::returned>(fact))
        note_return(from, *back);
  for (const auto& [token, x] : what.answers)
    if (auto asked = waiting_.extract(token))
      answer(asked.mapped().first, asked.mapped().second, x);
  for (const auto& x : what.news) account_for(x.what);
  for (const auto& x : what.starts) {
    const bool stays = alive_.contains(x.worker);
    if (stays)
      start(x);
    carry_out(job_.started(x, stays ? status{} : unavailable("it is about to end")));
  }
}

void shared_run::start(const job_command::start_task& what) {
  const auto id = what.what.id;
  tasks_.try_emplace(id, plan_);
  worker fresh{what.worker, what.what, nullptr};
  fresh.runs = std::make_shared<runner>(runner::options{
    .graph = graph_, .seed = 42, .leases_splits = true, .find_function = test::find_function});
  const auto& runs = workers_.emplace(id, std::move(fresh)).first->second.runs;
  const auto say = [mail = mail_, id](event x) {
    std::lock_guard lock{mail->mutex};
    mail->said[id].push_back(std::move(x));
    mail->changed.notify_all();
  };
  runs->start({.produced =
                 [say](block rows, duration) {
                   say(std::move(rows));
                   return size_t{0};
                 },
               .wants_splits = [say](splits_wish wish) { say(std::move(wish)); },
               .ended = [say](status how) { say(std::move(how)); },
               .crashed = [say](status why) { say(std::move(why)); }});
}

void shared_run::account_for(const iteration_view& news) {
  for (auto id : news.lost)
    if (auto& lost = tasks_.at(id); !std::exchange(lost.accounted, true))
      carry_out(job_.beat(1, 0, {lost.received->receipt_of(id)}));
}

void shared_run::on(worker& from, block rows) {
  auto& mine = tasks_.at(from.order.id);
  mine.received->add(rows);
  for (const auto& run : rows.origins)
    for (uint64_t i = 0; i < run.rows; ++i)
      mine.reached[{run.source, run.pass}].insert(run.split + i * run.step);
  auto& to = mine.rows;
  for (size_t i = 0; i < rows.rows; ++i) {
    auto text = row_text(rows, i);
    to.push_back(text[0] == '!' ? "!" : std::move(text));
  }
  from.runs->taken(rows.bytes());
}

void shared_run::on(worker& from, splits_wish wish) {
  const auto id = from.order.id;
  const splits_request what{.task = id, .life = from.order.life, .wish = wish};
  if (!wish.closes) {
    if (!from.unread)
      from.asks.insert(wish.which);
    const auto out = job_.ask(what);
    waiting_.emplace(job_.last_token, std::pair{id, std::move(wish)});
    return carry_out(out);
  }
  const auto runs = from.runs;
  const auto out = job_.ask(what);
  EXPECT_EQ(std::get<status>(out.answers.at(job_.last_token)), status{});
  carry_out(out, id);
  runs->give_splits(wish.which, lease_answer{});
  EXPECT_TRUE(job_.ask(what).stored.empty()) << "said twice, it means something";
}

void shared_run::on(worker& from, const status& how) {
  EXPECT_TRUE(how.ok()) << to_string(how);
  const auto order = from.order;
  const auto on = from.about;
  auto& mine = tasks_.at(order.id);
  if (!from.unread) {
    mine.how = task::fate::ended;
    mine.by_itself = !from.runs->exhausted();
    return carry_out(job_.ended(order, how, mine.by_itself));
  }
  mine.how = task::fate::left;
  carry_out(job_.left(order, *from.unread), order.id);
  if (!job_.state().finished())
    carry_out(job_.lost(on));
}

void shared_run::answer(task_id to, const splits_wish& wish,
                        const decltype(job_command::answer::what)& what) {
  const auto at = workers_.find(to);
  if (at == workers_.end())
    return;
  const auto* given = std::get_if<lease_answer>(&what);
  if (given == nullptr)
    return void(ADD_FAILURE() << to_string(std::get<status>(what)));
  given->for_each(wish.which, [&](const split_question& which, const split_answer& splits) {
    if (splits)
      note_lease(to, which.source, which.pass, *splits);
  });
  // A task that has begun to leave does not receive the answer.
  auto& from = at->second;
  if (from.asks.erase(wish.which) == 0)
    return;
  given->for_each(wish.which, [&](const split_question& which, const split_answer& splits) {
    tasks_.at(to).given.answered(which.source, which.pass, splits);
  });
  from.runs->give_splits(wish.which, *given);
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
  // If `from` is not set, a lost task had the splits. Its `given` stays as it is.
  if (from)
    tasks_.at(from).given.gave_back(what.source, what.pass, what.splits);
  const auto group = plan_.sources[what.source].group;
  for (uint32_t source = 0; source < plan_.sources.size(); ++source) {
    if (plan_.sources[source].group != group)
      continue;
    for (auto i = what.splits.first; i < what.splits.first + what.splits.count; ++i)
      if (leased_[{source, what.pass}].erase(i) != 0) {
        returned_[{source, what.pass}].insert(i);
        for (const auto& [id, x] : tasks_) {
          const auto reached = x.reached.find({source, what.pass});
          EXPECT_FALSE(reached != x.reached.end() && reached->second.contains(i) && !from)
            << "split " << i << " of source " << source << ", pass " << what.pass
            << " is given to others, and rows of it came from task " << id.value;
        }
      }
  }
}

} // namespace headrace::detail::test::sharing
