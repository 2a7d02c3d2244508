#include "headrace/runtime/journal/journal_writer.hpp"

#include <algorithm>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <utility>

namespace headrace::detail {

namespace {

constexpr size_t most_in_commit = 16384;
constexpr size_t most_bytes_in_commit = size_t{16} << 20;
constexpr auto pause_at_end = std::chrono::milliseconds{50};
/// `end` waits this much longer than the deadline, because the thread may be about to return.
constexpr auto grace_at_end = std::chrono::milliseconds{500};

time_point now() { return clock::system().now(); }

std::string mebibytes(uint64_t bytes) {
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
}

} // namespace

journal_writer::journal_writer(sqlite_journal_options options, std::optional<journal_lock> lock,
                               disk_reserve reserve, std::unique_ptr<journal_file> file)
  : options_(std::move(options)),
    metrics_(*options_.metrics),
    lock_(std::move(lock)),
    reserve_(std::move(reserve)),
    file_(std::move(file)),
    pace_(options_.commit_spacing, std::max(options_.commit_burst, 1u)),
    pauses_(options_.failed_pauses, 0) {}

void journal_writer::put(journal_change change, journal::done then) {
  std::lock_guard hold{mutex_};
  if (change.what == journal_change::kind::append)
    waiting_.push_back(std::move(then));
  queue_.push_back(std::move(change));
  changed_.notify_one();
}

bool journal_writer::end() {
  {
    std::unique_lock hold{mutex_};
    deadline_ = now() + options_.end_patience;
    changed_.notify_all();
    changed_.wait_until(hold, *deadline_ + grace_at_end, [this] { return ended_; });
  }
  std::deque<journal::done> left;
  {
    std::lock_guard call{calling_};
    silent_ = true;
    std::lock_guard hold{mutex_};
    left.swap(waiting_);
  }
  for (const auto& then : left)
    if (then)
      then(
        aborted(fmt::format("the journal in '{}' ended before it was kept", options_.directory)));
  std::lock_guard hold{mutex_};
  return ended_;
}

void journal_writer::run() {
  judge({});
  std::unique_lock hold{mutex_};
  while (wait_for_work(hold)) {
    fetch();
    hold.unlock();
    work();
    hold.lock();
  }
  hold.unlock();
  file_.reset();
  lock_.reset();
  hold.lock();
  ended_ = true;
  changed_.notify_all();
}

// -- the times of writing -------------------------------------------------------

/// Returns false if the writer is to end.
bool journal_writer::wait_for_work(std::unique_lock<std::mutex>& hold) {
  for (;;) {
    const auto time = now();
    if (deadline_ && ((batch_.empty() && queue_.empty()) || time >= *deadline_))
      return false;
    auto next = next_work();
    if (next && *next <= time)
      return true;
    if (deadline_)
      next = std::min(next.value_or(*deadline_), *deadline_);
    if (next)
      changed_.wait_until(hold, *next);
    else
      changed_.wait(hold);
  }
}

/// The time of the next work; nullopt: there is no work until a change is queued.
std::optional<time_point> journal_writer::next_work() const {
  if (!batch_.empty())
    return deadline_ ? std::min<time_point>(next_try_, tried_ + pause_at_end) : next_try_;
  std::optional<time_point> out;
  if (!queue_.empty())
    out = deadline_ || queue_.size() >= options_.crowd ? time_point{} : pace_.next();
  if (unwell_)
    out = std::min(out.value_or(next_try_), next_try_);
  return out;
}

void journal_writer::fetch() {
  if (!batch_.empty() || queue_.empty())
    return;
  for (size_t bytes = 0;
       !queue_.empty() && batch_.size() < most_in_commit && bytes < most_bytes_in_commit;) {
    bytes += queue_.front().bytes.size();
    batch_.push_back(std::move(queue_.front()));
    queue_.pop_front();
  }
  pace_.began(now());
}

// -- on the disk ------------------------------------------------------------------

void journal_writer::work() {
  tried_ = now();
  auto failure = with_reserve([this] { return file_->write(batch_); });
  if (!failure) {
    count(now() - tried_);
    acknowledge();
    batch_.clear();
    // The callbacks were called above, so that callers need not wait for the checkpoint.
    if (file_->log_pages() >= options_.checkpoint_pages)
      failure = with_reserve([this] { return file_->checkpoint(); });
  }
  if (!failure && reserve_.missing() && now() >= next_try_)
    reserve_.take();
  judge(failure);
}

template <class Attempt>
journal_failure journal_writer::with_reserve(const Attempt& attempt) {
  auto out = attempt();
  if (!out.full || !reserve_.held())
    return out;
  reserve_.release();
  next_try_ = now() + options_.full_pause;
  report(in_reserve());
  return attempt();
}

void journal_writer::count(duration took) {
  uint64_t records = 0, bytes = 0;
  for (const auto& x : batch_)
    if (x.what == journal_change::kind::append) {
      ++records;
      bytes += x.bytes.size();
    }
  metrics_.records.add(records);
  metrics_.bytes.add(bytes);
  metrics_.commit.observe(in_seconds(took));
}

void journal_writer::acknowledge() {
  const auto appended = std::count_if(batch_.begin(), batch_.end(), [](const journal_change& x) {
    return x.what == journal_change::kind::append;
  });
  std::vector<journal::done> kept;
  std::lock_guard call{calling_};
  if (silent_)
    return;
  {
    std::lock_guard hold{mutex_};
    const auto last = waiting_.begin() + appended;
    kept.assign(std::move_iterator{waiting_.begin()}, std::move_iterator{last});
    waiting_.erase(waiting_.begin(), last);
  }
  for (const auto& then : kept)
    if (then)
      then({});
}

void journal_writer::judge(const journal_failure& failure) {
  if (failure)
    next_try_ = now() + (failure.full ? options_.full_pause : pauses_.failed({}));
  else
    pauses_.reset();
  unwell_ = failure || reserve_.missing();
  if (unwell_ && next_try_ <= now())
    next_try_ = now() + options_.full_pause;
  if (failure)
    report(stuck(failure));
  else
    report(reserve_.missing() ? in_reserve() : status{});
}

void journal_writer::report(const status& health) {
  if (health == health_)
    return;
  health_ = health;
  std::lock_guard call{calling_};
  if (!silent_ && options_.on_health)
    options_.on_health(health);
}

status journal_writer::in_reserve() const {
  return resource_exhausted(
    fmt::format("the disk of '{}' is full: what runs goes on as long as a reserve of {} lasts; "
                "free at least {} there",
                options_.directory, mebibytes(reserve_.bytes()), mebibytes(reserve_.needs())));
}

status journal_writer::stuck(const journal_failure& failure) const {
  if (failure.full)
    return resource_exhausted(
      fmt::format("the disk of '{}' is full, and a reserve of {} is used up: nothing can be kept "
                  "until there is "
                  "space; it is tried again every {}. {}",
                  options_.directory, mebibytes(reserve_.bytes()),
                  std::chrono::duration_cast<std::chrono::milliseconds>(options_.full_pause),
                  failure.why.message()));
  const auto text =
    failure.why.message() + ": nothing can be kept until that is mended; it is tried again";
  return failure.why.code() == status_code::data_loss ? data_loss(text) : unavailable(text);
}

} // namespace headrace::detail
