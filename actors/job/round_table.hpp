#pragma once

#include "headrace/actors/protocol/round_epoch.hpp"
#include "headrace/runtime/base/status.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

/// Who takes part in the rounds of a repetition with coordinated reads, and which epochs of them
/// were agreed on. Pure: facts change it, and the same facts make the same table.
///
/// Another epoch comes when a task is gone or new, or a consumer comes in the place of one that is
/// gone. It is proposed first; each consumer that reads answers which round is its next, and waits
/// with that. The furthest of these rounds is where the epoch begins: no consumer has passed it,
/// and all have the elements of the rounds before it, as a round is handed out only then.
class round_table {
public:
  // -- facts ----------------------------------------------------------------------

  /// The next epoch was proposed.
  struct proposed {
    uint64_t epoch = 0;
    friend bool operator==(const proposed&, const proposed&) = default;
  };
  struct agreed {
    round_epoch next;
    friend bool operator==(const agreed&, const agreed&) = default;
  };

  explicit round_table(uint32_t consumers = 0) : consumers_(consumers) {}
  /// As `view` has it.
  explicit round_table(const round_view& known);

  void apply(const proposed& what) { proposed_ = what.epoch; }
  void apply(const agreed& what);
  void take_seat(consumer_id who, uint32_t index);
  void leave_seat(consumer_id who) {
    std::erase_if(seats_, [who](const auto& x) { return x.second.who == who; });
  }

  // -- decisions ------------------------------------------------------------------

  /// Whether a consumer may read as that one of the job's. `rejoins`: it may come in the place of
  /// another one, and where rounds are over.
  status may_take(uint32_t index, bool rejoins, const std::string& job) const;

  /// What is there to be read.
  struct tasks {
    std::vector<task_id> running;
    bool more_to_come = false; ///< others are starting
  };
  /// Nothing is to be done.
  struct wait {};
  /// None of the consumers that know the tasks' outputs is left: tasks are to be begun anew.
  struct renew {};
  using step = std::variant<wait, proposed, agreed, renew>;
  /// `places`: the rounds with which consumers wait for the proposed epoch. `furthest`: all rounds
  /// before it were handed out by some consumer, which may be gone. `left_behind`: a consumer that
  /// reads is behind one that left in order.
  step next(const tasks& there, const std::map<consumer_id, uint64_t>& places, uint64_t furthest,
            bool left_behind = false) const;

  // -- state ----------------------------------------------------------------------

  /// 0: there are no rounds.
  uint32_t consumers() const noexcept { return consumers_; }
  round_view view() const;
  const round_epoch& epoch() const noexcept { return now_; }
  /// The consumer that has that index, if there is one.
  std::optional<consumer_id> who_has(uint32_t index) const;
  friend bool operator==(const round_table&, const round_table&) = default;

private:
  /// A consumer reads, that was there when the present epoch was agreed on.
  bool has_participants() const;

  uint32_t consumers_;
  round_epoch now_;
  uint64_t proposed_ = 0;
  std::map<uint32_t, round_seat> seats_; ///< by index
};

} // namespace headrace
