#pragma once

#include "headrace/pipeline/explain/operator_table.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace headrace::detail {

/// The shares of the measured time that an operator spent in each state. Their sum is 1.
struct time_shares {
  double busy = 0;    ///< the operator computed
  double input = 0;   ///< the operator waited for its inputs
  double output = 0;  ///< no rows were requested of the operator, or it could hold no more rows
  double lease = 0;   ///< the operator waited for splits of its job
  double storage = 0; ///< the operator waited for files
  double memory = 0;  ///< the operator could not read ahead, because the graph's memory was used up
  double queued = 0;  ///< the operator's calls waited for a thread

  double sum() const noexcept { return busy + input + output + lease + storage + memory + queued; }
  friend bool operator==(const time_shares&, const time_shares&) = default;
};

/// The activity of one operator of a running task in the last seconds.
struct operator_activity {
  std::string name;   ///< as `operator_table::entry::name`
  uint32_t depth = 0; ///< as `operator_table::entry::depth`
  /// The operator belongs to a dataset in the function of another operator.
  bool in_function = false;
  double calls = 1; ///< the number of its calls that may run at a time
  double rows_per_second = 0;
  double bytes_per_second = 0;
  time_shares shares;
  friend bool operator==(const operator_activity&, const operator_activity&) = default;
};

/// The activity of the operators between two readings of their table, with the time `took` between
/// them. @pre both readings are of `table`
std::vector<operator_activity> activity_between(const operator_table& table,
                                                const std::vector<operator_totals>& before,
                                                const std::vector<operator_totals>& after,
                                                duration took);

/// The readings of one table over the last seconds.
class operator_window {
public:
  /// The length is so short that the shares show a new cause of slowness within 5 seconds.
  static constexpr duration length = std::chrono::seconds{4};

  explicit operator_window(const operator_table& of) : table_(of) {}
  /// Reads the table. Returns the activity of the operators over about the last `length`, or since
  /// the first call, which returns nothing.
  std::vector<operator_activity> look(time_point now);

private:
  struct reading {
    time_point when;
    std::vector<operator_totals> totals;
  };
  const operator_table& table_;
  std::deque<reading> readings_;
};

} // namespace headrace::detail
