#pragma once

#include "headrace/actors/cache/cache_window.hpp"
#include "headrace/actors/stream/dealer.hpp"
#include "headrace/actors/stream/task_output.hpp"

#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace headrace::detail {

/// Gives all of a task's output to each of several trainers, through a window: when a trainer that
/// has read the whole window has credit, the next block is added, and the other trainers read the
/// same block later. A `task_output` for each trainer divides the trainer's elements among its
/// streams.
///
/// An error row, or an element that is too large for any window, is given to only one trainer (see
/// `extend`). With `expected_trainers`, no elements are given before that many trainers have come,
/// and the dataset may be finite. In this case rows of a reader that is gone go to other readers of
/// its trainer, except the rows that the reader had claimed: these are lost, and counted.
class window_output final : public dealer {
public:
  struct options {
    cache_terms terms;
    /// How long the window waits for a trainer that is away.
    duration lease = std::chrono::seconds{5};
  };
  window_output(std::shared_ptr<window_store> store, options how);

  void produced(block rows) override;
  void exhausted() override { exhausted_ = true; }
  status opened(consumer_id who, const stream_open& how) override;
  void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
             bool waiting) override;
  void recalled(consumer_id who, uint64_t id, uint64_t mark) override;
  void taken(consumer_id who, uint64_t elements) override;
  void handed_out(consumer_id who, uint64_t elements) override;
  void received(consumer_id who, uint64_t elements) override;
  void claims(consumer_id who, uint64_t elements) override;
  void leaving() override;
  void cut(consumer_id who) override;
  void leave(consumer_id who) override;
  void give_up(consumer_id who) override;

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
  std::map<consumer_id, reader_marks> lost() const override;
  uint64_t handed_out_below() const override;
  const reached_splits& given() const override { return given_; }
  size_t pending_bytes() const override { return waiting_bytes_; }
  std::optional<cache_report> report() const override;

private:
  struct trainer {
    task_output out;
    /// The number of elements skipped by `out` that the window has counted.
    uint64_t counted = 0;
  };

  trainer* of(consumer_id who);
  bool whole() const noexcept { return terms_.expected_trainers != 0; }
  /// Chooses a trainer that has read the whole window and has credit, and moves the next rows into
  /// the window for it. An error row, or a row that is too large for the window, is given to this
  /// trainer alone. False: there are no rows, no such trainer, or no room in the window.
  bool extend(time_point now);
  bool extend_for(trainer& foremost, time_point now);
  void take_in_front(size_t rows);
  /// Gives each trainer the rows for which it has credit.
  void feed_all(std::vector<action>& out);
  void add_sends(const std::string& id, trainer& from, bool dry, std::vector<action>& out);
  void renew_place(const std::string& id, trainer& of);
  /// A consumer whose connection was cut a lease ago no longer holds back the place of its trainer
  /// with rows that it has not handed out, so the window no longer keeps blocks for these rows.
  void look_at_the_cut(time_point now);
  /// Removes the trainers that have no streams, unless `expected_trainers` is set. The window keeps
  /// their places, from which they read again if they come back.
  void drop_trainers_without_streams();
  bool all_made() const noexcept { return exhausted_ && incoming_.empty(); }

  cache_terms terms_;
  duration lease_;
  cache_window window_;
  std::deque<block> incoming_; ///< blocks that were produced and are not in the window yet
  size_t waiting_bytes_ = 0;   ///< bytes of `incoming_`
  bool exhausted_ = false;
  bool begun_ = false; ///< all expected trainers have joined
  bool leaving_ = false;
  std::map<std::string, trainer> trainers_;
  std::map<consumer_id, std::string> whose_;
  /// The consumers whose connection was cut, and the time of the cut, which is unset until the next
  /// call of `deal_at` records it.
  std::map<consumer_id, std::optional<time_point>> cut_;
  time_point looked_at_{};
  std::string last_served_;
  reached_splits given_; ///< stays empty: this dealer does not record splits
};

} // namespace headrace::detail
