#pragma once

#include "headrace/actors/stream/dealer.hpp"

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Deals a task's output to the consumers of coordinated reads, in groups of `consumers`
/// consecutive elements. Consumer i gets the i-th element of each group, so element g of each
/// stream belongs to group g.
///
/// Elements are sent as far as they were granted. The elements of a group may be handed out only
/// when all consumers have received theirs, which is announced separately. An element is kept until
/// all consumers have handed out their elements of its group, so that it can be sent to a consumer
/// that replaces a lost one.
class rounds_output final : public dealer {
public:
  explicit rounds_output(uint32_t consumers) : lanes_(consumers) {}

  void produced(block rows) override;
  void exhausted() override {}
  status may_end() const override;
  /// Fails if there is no such seat, or the consumer needs elements that are no longer kept.
  status opened(consumer_id who, const stream_open& how) override;
  void grant(consumer_id who, uint64_t handed_out, uint64_t elements, uint64_t bytes,
             bool waiting) override;
  void recalled(consumer_id, uint64_t, uint64_t) override {}
  void handed_out(consumer_id who, uint64_t elements) override;
  void received(consumer_id who, uint64_t elements) override;
  void in_epoch(consumer_id who, uint64_t epoch) override;
  void leaving() override {}
  void cut(consumer_id who) override;
  void leave(consumer_id who) override;

  std::vector<action> deal_at(time_point now, bool dry) override;
  bool could_recall() const override { return false; }
  std::vector<send_end> remaining_ends() override;
  bool finished() const override { return false; }
  bool delivered() const override { return false; }
  std::map<consumer_id, reader_marks> held() const override;
  uint64_t handed_out_below() const override { return floor() * lanes_.size(); }
  const reached_splits& given() const override { return given_; }
  size_t pending_bytes() const override;

private:
  /// Consecutive elements of one consumer.
  struct piece {
    uint64_t first = 0;
    block rows;
    uint64_t end() const noexcept { return first + rows.rows; }
  };
  /// Rows that were sent in one message, or were received before the stream was opened again. The
  /// entry is kept until the consumer has handed out all of them.
  struct in_flight {
    uint64_t end = 0; ///< the number of the element after the last one
    size_t bytes = 0; ///< zero if the rows were received before the stream was opened again
  };
  using received_by_all = std::pair<uint64_t, uint64_t>; ///< epoch, groups

  struct lane {
    std::optional<consumer_id> who;
    bool connected = false;
    bool ended = false;
    uint64_t made = 0;
    uint64_t sent = 0;
    uint64_t received = 0;
    uint64_t handed_out = 0;
    uint64_t granted = 0;
    uint64_t window_bytes = 0;
    uint64_t epoch = 0;
    received_by_all told;   ///< the last announcement since the stream was opened
    std::deque<piece> rows; ///< consecutive rows, up to element `made`
    std::deque<in_flight> flights;
    size_t held_bytes = 0; ///< the bytes of `flights`

    bool has_room() const noexcept {
      return connected && !ended && sent < made && sent < granted
             && (held_bytes < window_bytes || flights.empty());
    }
    void forget_flights();
  };

  lane* of(consumer_id who);
  void add(lane& to, block rows);
  /// The first group of which not all consumers have handed out their elements.
  uint64_t floor() const noexcept;
  void forget();
  bool serve(lane& to, std::vector<action>& out);
  void say_what_arrived(std::vector<action>& out);

  std::vector<lane> lanes_;
  std::map<consumer_id, uint32_t> index_of_;
  /// The newest epoch that all consumers took part in, and the number of groups that all of them
  /// had received in it. The number stays valid in that epoch when some consumers leave: they may
  /// have handed out these groups, so a consumer whose connection was cut before it received the
  /// number may do so, too.
  received_by_all common_;
  uint64_t produced_ = 0; ///< the number of rows that were produced
  reached_splits given_;  ///< stays empty: this dealer does not record splits
};

} // namespace headrace::detail
