#pragma once

#include "headrace/actors/stream/reached_splits.hpp"

#include <deque>
#include <utility>
#include <vector>

namespace headrace {

/// Of which splits the rows of one stream are that a consumer received and did not give back. Of
/// rows that are not handed out it keeps the origins, so that what goes back is named no more.
class received_splits {
public:
  /// The next rows of the stream came.
  void add(const block& rows);
  /// So many elements of the stream were handed out: they do not go back.
  void handed_out(uint64_t elements);
  /// Elements of the stream from `mark` on go back to the task.
  void give_back(uint64_t mark);
  /// What came and stays here, of rows of that task, in so many runs at most.
  split_receipt receipt_of(task_id task, size_t most = most_receipt_runs);
  /// To be called when a receipt was acknowledged: nothing more comes.
  void clear() { *this = {}; }

private:
  struct piece {
    size_t rows = 0;
    std::vector<origin> origins;

    void cut(size_t first, size_t count);
  };
  void settle(size_t rows);

  reached_splits settled_;   ///< of what was handed out, or stays here
  uint64_t begin_ = 0;       ///< elements that are settled
  uint64_t end_ = 0;         ///< elements that came
  std::deque<piece> pieces_; ///< between the two
};

} // namespace headrace
