#pragma once

#include "headrace/pipeline/explain/operator_table.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace headrace {

/// What an operator's time went into, as shares of the time that was looked at. They sum up to 1.
struct time_shares {
  double busy = 0;    ///< it computed
  double input = 0;   ///< it waited for its inputs
  double output = 0;  ///< it was not asked for rows, or could hold no more of them
  double lease = 0;   ///< it waited for splits of its job
  double storage = 0; ///< it waited for files
  double memory = 0;  ///< it could read nothing ahead, as the graph's memory was used up
  double queued = 0;  ///< its calls waited for a thread

  double sum() const noexcept { return busy + input + output + lease + storage + memory + queued; }
  friend bool operator==(const time_shares&, const time_shares&) = default;
};

/// What one operator of a running task has done lately.
struct operator_activity {
  std::string name;         ///< as `operator_table::entry::name`
  uint32_t depth = 0;       ///< as `operator_table::entry::depth`
  bool in_function = false; ///< it belongs to a dataset in the function of another operator
  double calls = 1;         ///< how many of it may run at a time
  double rows_per_second = 0;
  double bytes_per_second = 0;
  time_shares shares;
  friend bool operator==(const operator_activity&, const operator_activity&) = default;
};

/// What operators did between two readings of their table, `took` apart. @pre both are of `table`
std::vector<operator_activity> activity_between(const operator_table& table,
                                                const std::vector<operator_totals>& before,
                                                const std::vector<operator_totals>& after,
                                                duration took);

/// The readings of one table over the last seconds.
class operator_window {
public:
  /// Short enough that a cause is named within 5 seconds.
  static constexpr duration length = std::chrono::seconds{4};

  explicit operator_window(const operator_table& of) : table_(of) {}
  /// Reads the table. Returns what the operators did over about `length`, or since the first call.
  std::vector<operator_activity> look(time_point now);

private:
  struct reading {
    time_point when;
    std::vector<operator_totals> totals;
  };
  const operator_table& table_;
  std::deque<reading> readings_;
};

} // namespace headrace
