#include "headrace/actors/task/runner.hpp"

#include <fmt/format.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace headrace {

namespace {

std::atomic<size_t> stopping_threads{0};

} // namespace

struct runner::shared {
  options what;
  callbacks hear;
  std::stop_source stop;
  std::mutex mutex;
  std::condition_variable_any changed;
  size_t outstanding = 0;
  std::optional<result<std::optional<split_range>>> splits;
  bool ended = false;

  /// Says something to the task, unless the handle was dropped.
  template <class F>
  void tell(F&& f) {
    std::lock_guard lock{mutex};
    if (!stop.stop_requested())
      f(hear);
  }
};

namespace {

/// The runner's side of the lease protocol: first what an earlier runner was given, then the job's
/// answers.
class leased_splits final : public split_provider {
public:
  using ask =
    std::function<result<std::optional<split_range>>(uint32_t, uint64_t, std::optional<uint64_t>)>;
  leased_splits(split_log replay, ask live) : replay_(std::move(replay)), live_(std::move(live)) {}

  result<std::optional<split_range>> next(uint32_t source, uint64_t pass,
                                          std::optional<uint64_t> total) override {
    if (at_ < replay_.size()) {
      const auto& answer = replay_[at_++];
      if (answer.source != source || answer.pass != pass)
        return data_loss(
          fmt::format("replaying splits: source {} pass {} was asked for where the first run asked "
                      "for source {} pass {}; the pipeline is not deterministic",
                      source, pass, answer.source, answer.pass));
      return answer.splits;
    }
    return live_(source, pass, total);
  }

private:
  split_log replay_;
  size_t at_ = 0;
  ask live_;
};

} // namespace

runner::runner(options what, callbacks hear) : shared_(std::make_shared<shared>()) {
  shared_->what = std::move(what);
  shared_->hear = std::move(hear);
  std::thread{[s = shared_] {
    const auto token = s->stop.get_token();
    // Waits for the task's answer to a question put while the lock is not held.
    leased_splits leases{s->what.replay,
                         [&](uint32_t source, uint64_t pass,
                             std::optional<uint64_t> total) -> result<std::optional<split_range>> {
                           s->tell(
                             [&](callbacks& hear) { hear.wants_splits(source, pass, total); });
                           std::unique_lock lock{s->mutex};
                           if (!s->changed.wait(lock, token, [&] { return s->splits.has_value(); }))
                             return cancelled("the task was stopped");
                           auto answer = *std::move(s->splits);
                           s->splits.reset();
                           return answer;
                         }};
    iterator_context context;
    context.stop = token;
    context.splits = s->what.leases_splits ? &leases : nullptr;
    context.seed = s->what.seed;
    context.repetition = s->what.repetition;
    status how;
    try {
      auto source = make_iterator(s->what.graph, context);
      if (!source) {
        how = source.status();
      } else {
        block_ramp ramp;
        auto skip = s->what.skip_rows;
        while (!token.stop_requested()) {
          const auto begin = clock::system().now();
          auto rows = (*source)->next(ramp.next());
          if (!rows)
            break;
          const auto bytes = rows->bytes();
          ramp.record(rows->rows, bytes, clock::system().now() - begin);
          if (const auto dropped = std::min<uint64_t>(skip, rows->rows); dropped != 0) {
            skip -= dropped;
            if (dropped == rows->rows)
              continue;
            rows = rows->slice(dropped, rows->rows - dropped);
          }
          std::unique_lock lock{s->mutex};
          s->outstanding += bytes;
          if (!token.stop_requested())
            s->hear.produced(*std::move(rows));
          s->changed.wait(lock, token, [&] { return s->outstanding <= s->what.most_outstanding; });
        }
      }
    } catch (const std::exception& thrown) {
      how = internal_error(fmt::format("the pipeline's thread threw: {}", thrown.what()));
    }
    std::lock_guard lock{s->mutex};
    s->ended = true;
    if (token.stop_requested())
      --stopping_threads;
    else
      s->hear.ended(how);
  }}.detach();
}

runner::~runner() {
  std::lock_guard lock{shared_->mutex};
  if (!shared_->ended)
    ++stopping_threads;
  shared_->stop.request_stop();
  shared_->hear = {};
}

void runner::taken(size_t bytes) {
  std::lock_guard lock{shared_->mutex};
  shared_->outstanding -= std::min(bytes, shared_->outstanding);
  shared_->changed.notify_all();
}

void runner::give_splits(result<std::optional<split_range>> what) {
  std::lock_guard lock{shared_->mutex};
  shared_->splits = std::move(what);
  shared_->changed.notify_all();
}

size_t runner::stuck() noexcept { return stopping_threads; }

} // namespace headrace
