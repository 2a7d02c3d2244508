#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::detail {

/// Splits text into the fields of one row.
class csv_scanner {
public:
  csv_scanner(char delimiter, bool quotes);

  /// How a field ended.
  enum class ending : uint8_t {
    field, ///< another field follows in the row
    row,
    cut,         ///< the text ended, and more text may follow
    open_quote,  ///< the text ended inside quotes
    stray_quote, ///< a quote inside a field that does not begin with a quote
    after_quote, ///< text after the closing quote
  };

  /// Begins a row. `last`: no more text follows `text`.
  void start(std::string_view text, bool last) noexcept;
  /// Reads the next field of the row.
  ending next();
  /// The content of the field that `next` read. Valid until the next call of `next`.
  std::string_view value() const noexcept { return value_; }
  /// Skips the rest of the line. False: the text ended before the line did, and more text may
  /// follow.
  bool skip_line() noexcept;

  /// The number of characters read since `start`.
  size_t used() const noexcept { return static_cast<size_t>(at_ - begin_); }
  uint64_t lines() const noexcept { return lines_; }

private:
  ending quoted();
  ending finish(const char* end);

  std::array<bool, 256> special_{}; ///< characters that may end a field without quotes
  char delimiter_;
  bool quotes_;
  const char *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;
  bool last_ = false;
  uint64_t lines_ = 0;
  std::string_view value_;
  std::string unescaped_;
};

} // namespace headrace::detail
