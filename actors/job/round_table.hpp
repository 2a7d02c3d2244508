#pragma once

#include "headrace/actors/protocol/round_epoch.hpp"
#include "headrace/runtime/base/status.hpp"

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace headrace::detail {

/// The seats and epochs of a repetition with coordinated reads. Pure: it changes only by facts, and
/// the same facts make the same table.
///
/// A new epoch is needed when a task is gone or new, or a consumer takes the seat of one that is
/// gone. It is proposed first; each consumer that reads answers with its next round, and hands out
/// nothing until the epoch begins. The epoch begins with the latest of these rounds: no consumer
/// has passed it, and all consumers have the elements of the rounds before it, because a round is
/// handed out only if all have received it.
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

  /// Where a consumer that is gone has left the rounds.
  struct absence {
    uint64_t next = 0; ///< the first round that it perhaps has not handed out
    /// The most rounds that it can have missed. Zero: it has taken part in no round.
    uint64_t most = 0;
    bool lost = false; ///< it did not leave in order
    friend bool operator==(const absence&, const absence&) = default;
  };

  explicit round_table(uint32_t consumers = 0) : consumers_(consumers) {}
  /// The table of which `known` is the view.
  round_table(const round_view& known, std::vector<absence> absent, uint64_t missed);

  void apply(const proposed& what) { proposed_ = what.epoch; }
  void apply(const agreed& what);
  void take_seat(consumer_id who, uint32_t index);
  /// `up_to`: the first round that no reader is known to have reached. If no consumer that took
  /// part is left, the rounds before `up_to` that lost consumers missed are counted.
  void leave_seat(consumer_id who, const absence& where, uint64_t up_to = 0);
  /// The consumer has taken part in no round.
  void leave_seat(consumer_id who) { leave_seat(who, {}); }

  // -- decisions ------------------------------------------------------------------

  /// Ok if a consumer may take that seat. `rejoins`: the consumer may take it in place of another
  /// one, which still has it or is gone. Otherwise the seat must be free, and no present consumer
  /// may have taken part in the rounds.
  status may_take(uint32_t index, bool rejoins, const std::string& job) const;

  /// The tasks that could serve rounds.
  struct tasks {
    std::vector<task_id> running;
    bool more_to_come = false; ///< other tasks are starting
  };
  /// Nothing is to be done.
  struct wait {};
  /// All consumers that have received parts of the tasks' outputs are gone: the tasks must be begun
  /// anew.
  struct renew {};
  using step = std::variant<wait, proposed, agreed, renew>;
  /// `places`: the next round of each consumer that waits for the proposed epoch. `furthest`: the
  /// first round that no consumer, present or gone, is known to have handed out. `left_behind`: a
  /// reading consumer is behind one that left in order.
  step next(const tasks& there, const std::map<consumer_id, uint64_t>& places, uint64_t furthest,
            bool left_behind = false) const;

  // -- state ----------------------------------------------------------------------

  /// The number of consumers; 0: there are no rounds.
  uint32_t consumers() const noexcept { return consumers_; }
  round_view view() const;
  const round_epoch& epoch() const noexcept { return now_; }
  /// True if the consumer took part when the present epoch was agreed on. If not, it has been
  /// handed no row of any task.
  bool takes_part(consumer_id who) const;
  /// The consumer in that seat; nullopt: the seat is free.
  std::optional<consumer_id> who_has(uint32_t index) const;
  /// The consumers that are gone since the epoch began.
  const std::vector<absence>& absent() const noexcept { return absent_; }
  /// The number of elements that consumers missed because they are gone, in rounds through which
  /// other consumers continued. It is an upper bound.
  uint64_t missed() const noexcept { return missed_; }
  friend bool operator==(const round_table&, const round_table&) = default;

private:
  uint64_t missed_before(uint64_t round, const absence& by) const noexcept;

  /// True if some reading consumer took part when the present epoch was agreed on.
  bool has_participants() const;

  uint32_t consumers_;
  round_epoch now_;
  uint64_t proposed_ = 0;
  std::map<uint32_t, round_seat> seats_; ///< the seats by index
  std::vector<absence> absent_;
  uint64_t missed_ = 0;
};

} // namespace headrace::detail
