#pragma once

#include "headrace/actors/stream/reached_splits.hpp"

#include <deque>
#include <utility>
#include <vector>

namespace headrace::detail {

/// Records the splits of the rows of one stream that a consumer received and did not give back. It
/// keeps the origins of the rows that are not handed out, so that it can leave out those rows that
/// are given back.
class received_splits {
public:
  /// The first row that arrives will have this number in the stream. To be called before `add`.
  void begin_at(uint64_t elements) { begin_ = end_ = elements; }
  /// The next rows of the stream arrived.
  void add(const block& rows);
  /// This number of elements of the stream was handed out: they cannot be given back.
  void handed_out(uint64_t elements);
  /// Elements of the stream from `mark` on are given back to the task.
  void give_back(uint64_t mark);
  /// A receipt for the rows that arrived and were not given back. `most`: as in `reached_splits`.
  split_receipt receipt_of(task_id task, size_t most = most_receipt_runs);
  /// Frees the memory. To be called when a receipt was acknowledged: no rows arrive after that.
  void clear() { *this = {}; }

private:
  struct piece {
    size_t rows = 0;
    std::vector<origin> origins;

    void cut(size_t first, size_t count);
  };
  void settle(size_t rows);

  /// The splits of the rows that were handed out or can no longer be given back.
  reached_splits settled_;
  uint64_t begin_ = 0;       ///< the stream's element after the settled ones
  uint64_t end_ = 0;         ///< the element after those that arrived and were not given back
  std::deque<piece> pieces_; ///< the rows between `begin_` and `end_`
};

} // namespace headrace::detail
