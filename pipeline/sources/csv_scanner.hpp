#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace headrace::detail {

/// Cuts text into the fields of one row.
class csv_scanner {
public:
  csv_scanner(char delimiter, bool quotes);

  /// How a field ended.
  enum class ending : uint8_t {
    field, ///< there is another one in the row
    row,
    cut,         ///< the text ended, and `last` was not said
    open_quote,  ///< the text ended within quotes
    stray_quote, ///< a quote within a field that does not begin with one
    after_quote, ///< text after the closing quote
  };

  /// Begins with a row. `last`: nothing follows `text`.
  void start(std::string_view text, bool last) noexcept;
  /// Reads the next field of the row.
  ending next();
  /// What it holds. Valid until the next call.
  std::string_view value() const noexcept { return value_; }
  /// Passes over the rest of the line. False: the text ended before, and `last` was not said.
  bool skip_line() noexcept;

  /// Characters read since `start`, and ends of line among them.
  size_t used() const noexcept { return static_cast<size_t>(at_ - begin_); }
  uint64_t lines() const noexcept { return lines_; }

private:
  ending quoted();
  ending finish(const char* end);

  std::array<bool, 256> special_{}; ///< may end a field without quotes
  char delimiter_;
  bool quotes_;
  const char *begin_ = nullptr, *at_ = nullptr, *end_ = nullptr;
  bool last_ = false;
  uint64_t lines_ = 0;
  std::string_view value_;
  std::string unescaped_;
};

} // namespace headrace::detail
