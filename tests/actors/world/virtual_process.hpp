#pragma once

#include "tests/actors/world/simulation.hpp"

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

namespace headrace::detail::test {

/// A process of the world: it runs, is stopped (SIGSTOP), continues, dies and starts again. Events
/// of the time in which it is stopped are executed when it continues, in order.
class virtual_process {
public:
  virtual_process(simulation& time, std::string name) : time_(time), name_(std::move(name)) {}
  virtual ~virtual_process() = default;
  virtual_process(const virtual_process&) = delete;

  const std::string& name() const noexcept { return name_; }
  bool alive() const noexcept { return alive_; }
  bool stopped() const noexcept { return stopped_; }
  /// The number of the present life. Events for an earlier life are not executed in a later one.
  uint64_t life() const noexcept { return life_; }
  simulation& time() noexcept { return time_; }
  time_point now() const noexcept { return time_.now(); }

  /// Executes `what` in the process now, or when it continues if it is stopped.
  void post(std::function<void()> what) {
    if (!alive_)
      return;
    if (stopped_)
      return inbox_.push_back(std::move(what));
    what();
  }
  /// Executes `what` in the process after `delay`, if the process is still in this life.
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
  /// Ends the process at once.
  void kill() {
    if (!std::exchange(alive_, false))
      return;
    ++life_;
    stopped_ = false;
    inbox_.clear();
    on_killed();
  }
  /// Begins a new life.
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

/// The only timer of a core in a process. It works like port::alarm, but never rings early.
class virtual_alarm {
public:
  explicit virtual_alarm(virtual_process& of) : of_(of) {}
  void set(std::optional<time_point> at, std::function<void()> rings) {
    auto& armed = state_->armed;
    if (!at || (armed && *armed <= *at && state_->life == of_.life()))
      return;
    armed = at;
    state_->life = of_.life();
    of_.after(std::max(*at - of_.now(), duration{0}),
              [weak = std::weak_ptr{state_}, epoch = ++state_->epoch, rings = std::move(rings)] {
                const auto mine = weak.lock();
                if (!mine || epoch != mine->epoch)
                  return;
                mine->armed.reset();
                rings();
              });
  }

private:
  struct state {
    std::optional<time_point> armed;
    uint64_t life = 0;
    uint64_t epoch = 0;
  };
  virtual_process& of_;
  std::shared_ptr<state> state_ = std::make_shared<state>();
};

} // namespace headrace::detail::test
