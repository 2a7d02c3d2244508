#pragma once

#include "headrace/pipeline/iterator/iterator.hpp"

namespace headrace::detail {

/// Reads a position's numbers and parts in the order in which they were written. A missing value,
/// or one that is too large, makes `finish` fail.
class position_reader {
public:
  explicit position_reader(const position& from);

  /// The next number, at most `most`; 0 if it is missing or larger.
  uint64_t number(uint64_t most = UINT64_MAX) noexcept;
  /// The next failure, or ok.
  status failure();
  bool has_number() const noexcept { return next_number_ != numbers_.size(); }
  bool has_part() const noexcept { return next_part_ != parts_.size(); }
  /// True if all numbers and parts were read.
  bool empty() const noexcept { return !has_number() && !has_part(); }
  bool flag() noexcept { return number(1) == 1; }
  /// The next part; null if the part is null (its iterator was not open), or is missing.
  position_ptr part() noexcept;
  /// Restores `it` from the next part.
  status restore(iterator& it);
  /// Restores `it` from the position of a `resume_point`, and then drops the point's `skip` rows.
  status resume(iterator& it);
  /// `data_loss` if a value was missing or invalid, or if not all values were read; otherwise ok.
  status finish() const;
  /// Records that the values read so far are inconsistent.
  void refuse() noexcept { fits_ = false; }
  bool fits() const noexcept { return fits_; }

private:
  const position& from_;
  std::vector<uint64_t> numbers_;
  std::vector<position_ptr> parts_;
  size_t next_number_ = 0, next_part_ = 0;
  bool fits_ = true;
};

/// Appends `point`, for `position_reader::resume`.
void put(position& to, resume_point point);
/// Appends a failure that the operator has not returned yet, or ok, for `position_reader::failure`.
/// A long message is cut.
void put(position& to, const status& failure);
/// Appends the position of an input.
inline void put(position& to, const iterator& input) { to.parts.push_back(input.save()); }

/// The failure of a restored iterator that finds other data than when the position was saved. It
/// ends the iteration, and `ignore_errors` does not leave it out.
status data_changed();

/// Reads `rows` rows and drops them. `data_loss` if there are fewer.
status drop_rows(iterator& from, uint64_t rows);

} // namespace headrace::detail
