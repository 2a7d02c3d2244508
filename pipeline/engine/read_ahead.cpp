#include "headrace/pipeline/engine/read_ahead.hpp"

#include "headrace/runtime/base/clock.hpp"

namespace headrace::detail {

void read_ahead::start() {
  if (thread_.joinable())
    return;
  after_ = input_->save();
  thread_ = std::jthread{[this](std::stop_token done) { run(done); }};
}

read_ahead::allowance read_ahead::allowed(size_t rows) {
  if (!room()) {
    bound_.was_full();
    return {};
  }
  rows = std::min(rows, options_.rows - rows_);
  if (const auto taken = share_.take(rows); taken.rows != 0) {
    note_memory(false);
    return {taken.rows, taken.bytes};
  }
  if (pieces_.empty() && asked_ != 0)
    return {std::min(rows, asked_), 0};
  note_memory(true);
  return {};
}

void read_ahead::note_memory(bool held_back) {
  if (options_.counters == nullptr || (!held_back && !held_back_since_))
    return;
  const auto now = clock::system().now();
  if (held_back_since_)
    options_.counters->memory_ns += static_cast<uint64_t>((now - *held_back_since_).count());
  held_back_since_ = held_back ? std::optional{now} : std::nullopt;
}

void read_ahead::run(const std::stop_token& done) {
  block_ramp ramp;
  std::unique_lock lock{mutex_};
  while (!done.stop_requested()) {
    auto wanted = ramp.next();
    allowance may;
    const auto may_read = [&] {
      may = allowed(wanted.rows);
      return may.rows != 0;
    };
    if (!changed_.wait(lock, done, may_read))
      return;
    wanted.rows = may.rows;
    const bool waited_for = may.bytes == 0 && options_.budget;
    lock.unlock();
    if (options_.turns)
      options_.turns->acquire();
    const auto begin = clock::system().now();
    auto more = input_->next(wanted);
    const auto took = clock::system().now() - begin;
    if (options_.turns)
      options_.turns->release();
    if (options_.counters != nullptr)
      options_.counters->below_ns += static_cast<uint64_t>(took.count());
    auto after = input_->save();
    const auto bytes = more ? more->bytes() : 0;
    if (more)
      ramp.record(more->rows, bytes, took);
    const auto rows = more ? more->rows : 0;
    const auto counted = waited_for ? 0 : bytes;
    size_t over = 0;
    if (waited_for)
      share_.saw(rows, bytes);
    else
      over = share_.settle(may.bytes, rows, bytes);
    lock.lock();
    const auto at = std::exchange(after_, std::move(after));
    if (more) {
      rows_ += more->rows;
      bytes_ += bytes;
      pieces_.push_back({*std::move(more), {at, 0}, counted});
    } else {
      ended_ = true;
    }
    changed_.notify_all();
    if (options_.tells)
      options_.tells->add();
    lock.unlock();
    share_.give_back(over);
    lock.lock();
    if (ended_)
      return;
  }
}

void read_ahead::ask(size_t rows) {
  std::lock_guard lock{mutex_};
  asked_ = rows;
  changed_.notify_all();
}

std::optional<block> read_ahead::next(const limits& wanted) {
  start();
  std::unique_lock lock{mutex_};
  if (pieces_.empty() && !ended_) {
    bound_.ran_empty();
    asked_ = wanted.rows;
    changed_.notify_all();
  }
  if (!changed_.wait(lock, stop_, [this] { return !pieces_.empty() || ended_; }) || pieces_.empty())
    return std::nullopt;
  asked_ = 0;
  auto& [front, at, counted] = pieces_.front();
  const auto before = front.bytes();
  size_t freed = counted;
  block out;
  if (front.rows <= wanted.rows) {
    out = std::move(front);
    pieces_.pop_front();
    bytes_ -= before;
  } else {
    out = front.slice(0, wanted.rows);
    front = front.slice(wanted.rows, front.rows - wanted.rows);
    at.skip += wanted.rows;
    bytes_ -= before - front.bytes();
    freed = counted - std::min(counted, front.bytes());
    counted -= freed;
  }
  rows_ -= out.rows;
  changed_.notify_all();
  lock.unlock();
  share_.give_back(freed);
  return out;
}

resume_point read_ahead::point() const {
  if (!thread_.joinable())
    return {input_->save(), 0};
  std::lock_guard lock{mutex_};
  return pieces_.empty() ? resume_point{after_, 0} : pieces_.front().at;
}

} // namespace headrace::detail
