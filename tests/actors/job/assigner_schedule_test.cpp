#include "headrace/actors/job/splits/waiting_leases.hpp"

#include "tests/actors/job/reading_task.hpp"

#include <iostream>

namespace headrace::detail::test {
namespace {

/// Tasks that send questions, read, wait, join, leave, end and are lost in random order, over
/// random sources.
class assigner_schedule {
public:
  explicit assigner_schedule(uint64_t seed)
    : random_(seed),
      plan_(random_, 400),
      ledger_(plan_),
      core_(plan_.what),
      replayed_(core_),
      slowest_(random_() % 2 == 0 ? 40'000'000 : 100'000),
      all_stay_(random_() % 2 == 0) {
    join();
  }

  size_t run() {
    size_t events = 0;
    while (!tasks_.empty() && !::testing::Test::HasFailure()) {
      ++events;
      now_ += std::chrono::nanoseconds{random_() % slowest_};
      const auto kind = random_() % 1000;
      if (kind < 6 && last_ < 12)
        join();
      else if (kind < 8 && tasks_.size() > 1 && !all_stay_)
        die();
      else if (kind < 11 && last_ < 12 && !all_stay_)
        leave();
      else
        act();
      settle();
      if (std::ranges::all_of(tasks_,
                              [](const auto& x) { return x.second.asks(x.first).has_value(); })
          && !tasks_.empty()) {
        ADD_FAILURE() << "every task waits and none is answered";
        break;
      }
      // When no task is left, a further task is started if class `iteration` would not finish the
      // repetition: if no task has reached the end yet, or if splits were returned and no task that
      // began after their return has reached the end.
      if (tasks_.empty()
          && (newest_ended_ == 0 || (core_.has_rest() && newest_ended_ <= begun_before_return_)))
        join();
    }
    EXPECT_TRUE(replayed_ == core_) << "the same facts make another state";
    ledger_.check(left_);
    return events;
  }

private:
  using entry = std::map<task_id, reading_task>::iterator;

  void join() {
    tasks_.emplace(task_id{++last_}, reading_task{plan_, ledger_});
    share();
  }
  void share() { apply(split_assigner::shared_by{tasks_.size()}); }
  entry some() {
    auto at = tasks_.begin();
    std::advance(at, static_cast<long>(random_() % tasks_.size()));
    return at;
  }
  void remove(entry at) {
    apply(split_assigner::task_gone{at->first});
    tasks_.erase(at);
    share();
  }
  void die() {
    const auto at = some();
    at->second.lose();
    left_ = true;
    remove(at);
  }
  void leave() {
    const auto at = some();
    auto& [id, task] = *at;
    const auto unread = task.leave();
    while (!task.ended() && !::testing::Test::HasFailure()) task.step(random_);
    for (const auto& one : unread)
      for (const auto& back : core_.leave(id, one)) {
        task.gave_back(back);
        apply(back);
      }
    task.finish();
    left_ = true;
    begun_before_return_ = last_;
    remove(at);
  }
  void act() {
    const auto at = some();
    auto& [id, task] = *at;
    task.step(random_);
    for (const auto& one : task.closed())
      for (const auto& fact : core_.close(id, one)) {
        if (const auto* back = std::get_if<split_assigner::returned>(&fact))
          task.gave_back(*back);
        apply(fact);
      }
    if (!at->second.ended())
      return;
    at->second.finish();
    newest_ended_ = std::max(newest_ended_, at->first.value);
    remove(at);
  }
  /// Answers waiting questions until no further one can be answered, as the job's core does.
  void settle() {
    waiting_leases waiting;
    for (const auto& [id, task] : tasks_)
      if (const auto wanted = task.asks(id))
        waiting.add(*wanted);
    const auto give = [&](reading_task& task, const lease_request& wanted,
                          const std::vector<split_assigner::leased_to>& given) {
      lease_answer answer{given.front().splits};
      for (const auto& one : given) {
        apply(one);
        if (one.continues)
          answer.more.push_back(*one.splits);
      }
      core_.keep_pace(given, now_);
      waiting.remove(wanted);
      task.answered(answer);
    };
    for (bool moved = true; moved;) {
      moved = false;
      for (auto& [id, task] : tasks_) {
        const auto wanted = task.asks(id);
        if (!wanted)
          continue;
        if (auto news = core_.note(*wanted))
          apply(*news);
        EXPECT_EQ(core_.note(*wanted), std::nullopt) << "said twice";
        const auto given = core_.decide(*wanted, waiting.beside(*wanted), now_);
        if (given.empty())
          continue;
        give(task, *wanted, given);
        moved = true;
      }
      if (moved)
        continue;
      if (const auto given = waiting.give_way(core_, now_); !given.empty()) {
        auto& task = tasks_.at(given.front().task);
        give(task, *task.asks(given.front().task), given);
        moved = true;
      }
    }
    const auto sources = plan_.what.sources.size();
    EXPECT_LT(core_.records(), 4 + 6 * sources * (plan_.passes + 1) * (last_ + 1));
  }
  void apply(const split_assigner::fact& x) {
    core_.apply(x);
    replayed_.apply(x);
  }

  std::mt19937_64 random_;
  random_plan plan_;
  split_ledger ledger_;
  split_assigner core_;
  split_assigner replayed_;
  time_point now_{};
  uint64_t last_ = 0, newest_ended_ = 0, begun_before_return_ = 0;
  const uint64_t slowest_; ///< the longest time between two events, in nanoseconds
  const bool all_stay_;    ///< no task is lost or leaves, so a zip must not lose rows
  bool left_ = false;
  std::map<task_id, reading_task> tasks_;
};

TEST(AssignerSchedule, LeasesEachSplitOfEachSourceOnceAndEndsUnderRandomSchedules) {
  const auto base = uint64_t{std::random_device{}()} << 20;
  std::cout << "seeds from " << base << std::endl;
  size_t events = 0;
  for (uint64_t i = 0; events < 1'000'000 && !::testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE(::testing::Message() << "seed " << base + i);
    events += assigner_schedule{base + i}.run();
  }
}

} // namespace
} // namespace headrace::detail::test
