#include "headrace/pipeline/iterator/read_ahead.hpp"

namespace headrace::detail {

void read_ahead::start() {
  if (thread_.joinable())
    return;
  after_ = input_->save();
  thread_ = std::jthread{[this](std::stop_token done) { run(done); }};
}

void read_ahead::run(const std::stop_token& done) {
  block_ramp ramp;
  std::unique_lock lock{mutex_};
  const auto has_room = [this] {
    if (!room())
      bound_.was_full();
    return room();
  };
  while (changed_.wait(lock, done, has_room)) {
    auto wanted = ramp.next();
    wanted.rows = std::min(wanted.rows, options_.rows - rows_);
    lock.unlock();
    if (options_.turns)
      options_.turns->acquire();
    const auto begin = std::chrono::steady_clock::now();
    auto more = input_->next(wanted);
    const auto took = std::chrono::steady_clock::now() - begin;
    if (options_.turns)
      options_.turns->release();
    auto after = input_->save();
    const auto bytes = more ? more->bytes() : 0;
    if (more)
      ramp.record(more->rows, bytes, took);
    lock.lock();
    const auto at = std::exchange(after_, std::move(after));
    if (!more) {
      ended_ = true;
      changed_.notify_all();
      if (options_.tells)
        options_.tells->add();
      return;
    }
    rows_ += more->rows;
    bytes_ += bytes;
    pieces_.push_back({*std::move(more), {at, 0}});
    changed_.notify_all();
    if (options_.tells)
      options_.tells->add();
  }
}

std::optional<block> read_ahead::next(const limits& wanted) {
  start();
  std::unique_lock lock{mutex_};
  if (pieces_.empty() && !ended_) {
    bound_.ran_empty();
    changed_.notify_all();
  }
  if (!changed_.wait(lock, stop_, [this] { return !pieces_.empty() || ended_; }) || pieces_.empty())
    return std::nullopt;
  auto& [front, at] = pieces_.front();
  const auto before = front.bytes();
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
  }
  rows_ -= out.rows;
  changed_.notify_all();
  return out;
}

resume_point read_ahead::point() const {
  if (!thread_.joinable())
    return {input_->save(), 0};
  std::lock_guard lock{mutex_};
  return pieces_.empty() ? resume_point{after_, 0} : pieces_.front().at;
}

} // namespace headrace::detail
