#pragma once

#include "tests/actors/world/simulation.hpp"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <utility>

namespace headrace::test {

/// A process of the world: runs, is stopped (SIGSTOP), goes on, dies and comes back. What happens
/// to it while it is stopped happens when it goes on, in order.
class virtual_process {
public:
  virtual_process(simulation& time, std::string name) : time_(time), name_(std::move(name)) {}
  virtual ~virtual_process() = default;
  virtual_process(const virtual_process&) = delete;

  const std::string& name() const noexcept { return name_; }
  bool alive() const noexcept { return alive_; }
  bool stopped() const noexcept { return stopped_; }
  /// Counts its lives; what was meant for an earlier one does not reach a later one.
  uint64_t life() const noexcept { return life_; }
  simulation& time() noexcept { return time_; }
  time_point now() const noexcept { return time_.now(); }

  /// Happens to the process now.
  void post(std::function<void()> what) {
    if (!alive_)
      return;
    if (stopped_)
      return inbox_.push_back(std::move(what));
    what();
  }
  /// Happens to this life of the process after a time.
  void after(duration delay, std::function<void()> what) {
    time_.after(delay, [this, life = life_, what = std::move(what)]() mutable {
      if (life == life_)
        post(std::move(what));
    });
  }
  void stop() { stopped_ = true; }
  void go_on() {
    stopped_ = false;
    while (!inbox_.empty() && !stopped_ && alive_) {
      auto next = std::move(inbox_.front());
      inbox_.pop_front();
      next();
    }
  }
  /// Ends without a word.
  void kill() {
    if (!std::exchange(alive_, false))
      return;
    ++life_;
    stopped_ = false;
    inbox_.clear();
    on_killed();
  }
  /// Begins anew.
  void start() {
    alive_ = true;
    on_started();
  }

protected:
  virtual void on_killed() = 0;
  virtual void on_started() = 0;

  simulation& time_;

private:
  std::string name_;
  bool alive_ = false;
  bool stopped_ = false;
  uint64_t life_ = 1;
  std::deque<std::function<void()>> inbox_;
};

/// The one timer of a process's core, as port::alarm.
class virtual_alarm {
public:
  explicit virtual_alarm(virtual_process& of) : of_(of) {}
  void set(std::optional<time_point> at, std::function<void()> rings) {
    if (!at || (armed_ && *armed_ <= *at && life_ == of_.life()))
      return;
    armed_ = at;
    life_ = of_.life();
    of_.after(std::max(*at - of_.now(), duration{0}),
              [this, epoch = ++epoch_, rings = std::move(rings)] {
                if (epoch != epoch_)
                  return;
                armed_.reset();
                rings();
              });
  }

private:
  virtual_process& of_;
  std::optional<time_point> armed_;
  uint64_t life_ = 0;
  uint64_t epoch_ = 0;
};

} // namespace headrace::test
