#include "headrace/pipeline/operators/parallel_map.hpp"

#include <condition_variable>
#include <deque>
#include <oneapi/tbb/info.h>
#include <oneapi/tbb/task_arena.h>
#include <thread>

namespace headrace::detail {

namespace {

/// One block on its way through the function. Whoever claims it evaluates it: an arena's thread, or
/// the reader who would otherwise wait for it.
class map_job {
public:
  map_job(block in, std::shared_ptr<const compiled_function> body,
          std::shared_ptr<const function_row> row)
    : rows_(std::move(in)), body_(std::move(body)), row_(std::move(row)) {}

  void run_if_unclaimed() {
    if (claimed_.exchange(true))
      return;
    auto out = body_->run(rows_, row_ ? &row_->names : nullptr, kernel_calls_);
    std::lock_guard lock{mutex_};
    rows_ = std::move(out);
    done_ = true;
    ready_.notify_all();
  }

  block take(uint64_t& kernel_calls) {
    run_if_unclaimed();
    std::unique_lock lock{mutex_};
    ready_.wait(lock, [this] { return done_; });
    kernel_calls += kernel_calls_;
    return std::move(rows_);
  }

private:
  block rows_;
  std::shared_ptr<const compiled_function> body_;
  std::shared_ptr<const function_row> row_;
  uint64_t kernel_calls_ = 0;
  std::atomic<bool> claimed_{false};
  std::mutex mutex_;
  std::condition_variable ready_;
  bool done_ = false;
};

class parallel_map_iterator final : public operator_iterator {
public:
  parallel_map_iterator(engine& shared, const dataset_node& node, const place& at,
                        std::shared_ptr<const compiled_function> body,
                        std::unique_ptr<iterator> input)
    : operator_iterator(shared, node),
      row_(at.row),
      body_(std::move(body)),
      input_(std::move(input)),
      most_(node.parallel > 0 ? static_cast<size_t>(node.parallel)
                              : std::max(1u, std::thread::hardware_concurrency())),
      arena_(static_cast<int>(
        std::min<size_t>(most_, static_cast<size_t>(oneapi::tbb::info::default_concurrency())))) {}

protected:
  std::optional<block> produce(const limits& wanted) override {
    if (rest_.rows == 0) {
      std::unique_lock lock{mutex_};
      wanted_ = wanted;
      if (!puller_.joinable())
        puller_ = std::jthread{[this](std::stop_token stop) { pull(stop); }};
      const auto stop = engine_.context().stop;
      if (!changed_.wait(lock, stop, [this] { return !jobs_.empty() || ended_; }))
        return last_failure(cancelled("the iteration was stopped"));
      if (jobs_.empty())
        return std::nullopt;
      auto job = jobs_.front();
      lock.unlock();
      rest_ = job->take(kernel_calls_);
      lock.lock();
      jobs_.pop_front();
      changed_.notify_all();
    }
    auto out = rest_.slice(0, std::min(wanted.rows, rest_.rows));
    rest_ = out.rows == rest_.rows ? block{} : rest_.slice(out.rows, rest_.rows - out.rows);
    return out;
  }

private:
  void pull(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    while (changed_.wait(lock, stop, [this] { return jobs_.size() < most_; })) {
      const auto wanted = wanted_;
      lock.unlock();
      auto in = input_->next(wanted);
      auto job = in ? std::make_shared<map_job>(*std::move(in), body_, row_) : nullptr;
      lock.lock();
      if (!job) {
        ended_ = true;
        changed_.notify_all();
        return;
      }
      jobs_.push_back(job);
      changed_.notify_all();
      arena_.enqueue([job] { job->run_if_unclaimed(); });
    }
  }

  std::shared_ptr<const function_row> row_;
  std::shared_ptr<const compiled_function> body_;
  std::unique_ptr<iterator> input_; ///< the puller's
  const size_t most_;
  oneapi::tbb::task_arena arena_;
  block rest_; ///< of the last job
  std::mutex mutex_;
  std::condition_variable_any changed_;
  limits wanted_;
  std::deque<std::shared_ptr<map_job>> jobs_;
  bool ended_ = false;
  std::jthread puller_; ///< last: it ends before what it uses
};

} // namespace

opened open_parallel_map(engine& shared, const dataset_node& node, const place& at,
                         std::shared_ptr<const compiled_function> body,
                         std::unique_ptr<iterator> input) {
  return std::unique_ptr<iterator>{
    std::make_unique<parallel_map_iterator>(shared, node, at, std::move(body), std::move(input))};
}

} // namespace headrace::detail
