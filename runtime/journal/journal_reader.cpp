#include "headrace/runtime/journal/journal_reader.hpp"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <utility>

namespace headrace::detail {

namespace {

using kind = journal_change::kind;

/// Copies small records into a few large blocks, each record aligned like a buffer of its own.
class record_shelf {
public:
  buffer copy(std::span<const std::byte> bytes) {
    if (bytes.size() > block_size / 8)
      return buffer::copy_of(bytes);
    const auto size = (bytes.size() + buffer_alignment - 1) / buffer_alignment * buffer_alignment;
    if (used_ + size > block_.size()) {
      mutable_buffer fresh{block_size};
      to_ = fresh.data();
      block_ = std::move(fresh).freeze();
      used_ = 0;
    }
    if (!bytes.empty())
      std::memcpy(to_ + used_, bytes.data(), bytes.size());
    return block_.slice(std::exchange(used_, used_ + size), bytes.size());
  }

private:
  static constexpr size_t block_size = size_t{256} << 10;
  buffer block_;
  std::byte* to_ = nullptr;
  size_t used_ = 0;
};

class journal_reader {
public:
  explicit journal_reader(sqlite_connection& file) : file_(file) {}

  result<journal_contents> read() {
    HEADRACE_TRY(table(kind::settle, "SELECT stream, number, crc, bytes FROM state"));
    HEADRACE_TRY(
      table(kind::append, "SELECT stream, number, crc, bytes FROM record ORDER BY stream, number"));
    HEADRACE_TRY(compare());
    return std::move(out_);
  }

private:
  status table(kind what, const char* sql) {
    HEADRACE_ASSIGN(auto rows, file_.prepare(sql));
    journal::kept* to = nullptr;
    uint64_t stream = 0;
    while (rows.row()) {
      journal_change row{.what = what, .stream = rows.number(0), .number = rows.number(1)};
      row.bytes = shelf_.copy(rows.bytes(3));
      row.crc = row_checksum(what, row.stream, row.number, row.bytes);
      if (rows.number(2) != row.crc)
        return wrong(row, "does not match its checksum");
      if (!out_.ledger.found(row))
        return wrong(row, "does not follow the one before it");
      if (!to || row.stream != stream)
        to = &out_.streams[stream = row.stream];
      if (what == kind::settle)
        to->state = std::move(row.bytes);
      else
        to->records.push_back(std::move(row.bytes));
    }
    return rows.done() ? status{} : file_.failure("read");
  }

  status compare() {
    HEADRACE_ASSIGN(auto row, file_.prepare("SELECT rows, crcs FROM total WHERE id = 0"));
    if (!row.row())
      return row.done() ? damaged_journal(file_.path(), "its count of rows is missing")
                        : file_.failure("read");
    const journal_total stored{row.number(0), row.number(1)};
    if (stored.rows != out_.ledger.total().rows)
      return damaged_journal(file_.path(), fmt::format("it has {} rows and should have {}",
                                                       out_.ledger.total().rows, stored.rows));
    if (stored != out_.ledger.total())
      return damaged_journal(file_.path(), "the sum of its checksums is not the stored one");
    return {};
  }

  status wrong(const journal_change& row, const char* how) const {
    return damaged_journal(file_.path(), fmt::format("{} {} of stream {} {}",
                                                     row.what == kind::settle ? "state" : "record",
                                                     row.number, row.stream, how));
  }

  sqlite_connection& file_;
  record_shelf shelf_;
  journal_contents out_;
};

} // namespace

result<journal_contents> read_journal(sqlite_connection& file) {
  return journal_reader{file}.read();
}

} // namespace headrace::detail
