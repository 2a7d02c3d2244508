#pragma once

#include "headrace/runtime/journal/journal_change.hpp"

#include <unordered_map>
#include <vector>

namespace headrace::detail {

/// Makes the `journal_change` of each call of a journal: numbers the records of each stream, and
/// keeps the total of the journal. Pure; not thread-safe.
class journal_ledger {
public:
  journal_change append(uint64_t stream, buffer record);
  journal_change settle(uint64_t stream, buffer state);
  journal_change drop(uint64_t stream);

  /// While the journal is read: adds the next row of a stream. False: the row's number is not the
  /// next one of the stream.
  bool found(const journal_change& row);

  bool contains(uint64_t stream) const { return streams_.contains(stream); }
  /// The streams in ascending order.
  std::vector<uint64_t> streams() const;
  const journal_total& total() const noexcept { return total_; }
  /// The number of the next record of a stream.
  uint64_t next(uint64_t stream) const;

private:
  struct entry {
    uint64_t next = 0;
    journal_total total = {}; ///< the total of the stream's rows
  };
  void add(entry& to, uint32_t crc) noexcept;

  std::unordered_map<uint64_t, entry> streams_;
  journal_total total_;
};

} // namespace headrace::detail
