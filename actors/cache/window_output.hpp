#pragma once

#include "headrace/actors/cache/cache_window.hpp"
#include "headrace/actors/stream/dealer.hpp"
#include "headrace/actors/stream/task_output.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace {

/// Gives a task's output to several trainers, each of which is given all of it, by way of a window:
/// the foremost trainer has it extended, the others read the same blocks. The streams of one
/// trainer share what it is given, as a task_output does.
///
/// An element that failed, or that no window can hold, is given to the trainer for which it was
/// made, and to no other one. With `expected_trainers` elements are given once so many have come,
/// and the end is told; what a reader that is gone had goes to others of its trainer.
class window_output final : public dealer {
public:
  struct options {
    cache_terms terms;
    /// How long a trainer that is away counts as one that may be waited for.
    duration lease = std::chrono::seconds{5};
  };
  window_output(std::shared_ptr<window_store> store, options how);

  void produced(block rows) override;
  void exhausted() override { exhausted_ = true; }
  status opened(consumer_id who, const stream_open& how) override;
  void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
             bool waiting) override;
  void recalled(consumer_id who, uint64_t id, uint64_t mark) override;
  void handed_out(consumer_id who, uint64_t elements) override;
  void received(consumer_id who, uint64_t elements) override;
  void leaving() override;
  void cut(consumer_id who) override;
  void leave(consumer_id who) override;

  std::vector<action> deal_at(time_point now, bool dry) override;
  std::optional<time_point> next_deadline() const override;
  void when_there_is_room(std::function<void()> call) override {
    window_.when_there_is_room(std::move(call));
  }
  bool could_recall() const override;
  std::vector<send_end> remaining_ends() override;
  bool finished() const override;
  bool delivered() const override;
  std::map<consumer_id, reader_marks> held() const override;
  uint64_t handed_out_below() const override;
  const reached_splits& given() const override { return given_; }
  size_t pending_bytes() const override { return waiting_bytes_; }
  std::optional<cache_report> report() const override;

private:
  struct trainer {
    task_output out;
    uint64_t counted = 0; ///< of what `out` skipped, in the window
  };

  trainer* of(consumer_id who);
  bool whole() const noexcept { return terms_.expected_trainers != 0; }
  /// Moves what came first into the window, or what cannot be there to who has it made. The
  /// foremost trainer that has room asks for it. False: nobody does, or there is no room for it.
  bool extend(time_point now);
  bool extend_for(trainer& foremost, time_point now);
  void take_in_front(size_t rows);
  /// Gives each what there is and it may be sent.
  void feed_all(std::vector<action>& out);
  void add_sends(const std::string& id, trainer& from, bool dry, std::vector<action>& out);
  void renew_place(const std::string& id, trainer& of);
  /// Waits no more for what iterators have that were cut off a lease ago.
  void look_at_the_cut(time_point now);
  bool all_made() const noexcept { return exhausted_ && incoming_.empty(); }

  cache_terms terms_;
  duration lease_;
  cache_window window_;
  std::deque<block> incoming_; ///< made, and not in the window
  size_t waiting_bytes_ = 0;   ///< of these
  bool exhausted_ = false;
  bool begun_ = false; ///< as many trainers have come as are expected
  bool leaving_ = false;
  std::map<std::string, trainer> trainers_;
  std::map<consumer_id, std::string> whose_;
  std::map<consumer_id, std::optional<time_point>> cut_; ///< since; unset: just now
  time_point looked_at_{};
  std::string last_served_;
  reached_splits given_; ///< nothing: it is not kept of which splits rows were given
};

} // namespace headrace
