#include "headrace/runtime/journal/journal_ledger.hpp"

#include <algorithm>
#include <utility>

namespace headrace::detail {

using kind = journal_change::kind;

void journal_ledger::add(entry& to, uint32_t crc) noexcept {
  to.total.add(crc);
  total_.add(crc);
}

journal_change journal_ledger::append(uint64_t stream, buffer record) {
  auto& x = streams_[stream];
  const auto number = x.next++;
  const auto crc = row_checksum(kind::append, stream, number, record);
  add(x, crc);
  return {kind::append, stream, number, crc, std::move(record), total_};
}

journal_change journal_ledger::settle(uint64_t stream, buffer state) {
  auto& x = streams_[stream];
  const auto crc = row_checksum(kind::settle, stream, x.next, state);
  total_.take_away(std::exchange(x.total, {}));
  add(x, crc);
  return {kind::settle, stream, x.next, crc, std::move(state), total_};
}

journal_change journal_ledger::drop(uint64_t stream) {
  if (const auto at = streams_.find(stream); at != streams_.end()) {
    total_.take_away(at->second.total);
    streams_.erase(at);
  }
  return {.what = kind::drop, .stream = stream, .total = total_};
}

bool journal_ledger::found(const journal_change& row) {
  auto& x = streams_[row.stream];
  if (row.what == kind::settle)
    x.next = row.number;
  else if (row.number != x.next++)
    return false;
  add(x, row.crc);
  return true;
}

std::vector<uint64_t> journal_ledger::streams() const {
  std::vector<uint64_t> out;
  out.reserve(streams_.size());
  for (const auto& [stream, x] : streams_) out.push_back(stream);
  std::sort(out.begin(), out.end());
  return out;
}

uint64_t journal_ledger::next(uint64_t stream) const {
  const auto at = streams_.find(stream);
  return at == streams_.end() ? 0 : at->second.next;
}

} // namespace headrace::detail
