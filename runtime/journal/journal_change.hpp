#pragma once

#include "headrace/runtime/base/buffer.hpp"

#include <cstdint>

namespace headrace::detail {

/// The number of rows and the sum of their checksums, of a journal or of one stream. The total of
/// the journal is written with each commit, and compared when the rows are read, so that a missing
/// row is detected.
struct journal_total {
  uint64_t rows = 0;
  uint64_t crcs = 0; ///< sum of the checksums

  void add(uint32_t crc) noexcept {
    ++rows;
    crcs += crc;
  }
  void take_away(const journal_total& x) noexcept {
    rows -= x.rows;
    crcs -= x.crcs;
  }
  friend bool operator==(const journal_total&, const journal_total&) = default;
};

/// One call of a journal, with all data for its rows. It may be written again after a failure, with
/// the same result.
struct journal_change {
  enum class kind : uint8_t { append, settle, drop };
  kind what = kind::append;
  uint64_t stream = 0;
  /// For append: the number of the record in its stream, counted from 0. For settle: the number of
  /// the stream's next record; the state stands for all records with smaller numbers.
  uint64_t number = 0;
  uint32_t crc = 0;
  buffer bytes = {};
  /// The total of the whole journal after this change.
  journal_total total = {};
};

/// The checksum of a row's bytes, kind, stream and number: a row in a wrong place is detected, too.
uint32_t row_checksum(journal_change::kind what, uint64_t stream, uint64_t number,
                      const buffer& bytes) noexcept;

} // namespace headrace::detail
