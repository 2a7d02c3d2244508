#include "headrace/pipeline/files/csv_scanner.hpp"

#include <algorithm>
#include <cstring>

namespace headrace::detail {

csv_scanner::csv_scanner(char delimiter, bool quotes) : delimiter_(delimiter), quotes_(quotes) {
  for (char c : {delimiter, '\n', '\r'}) special_[static_cast<unsigned char>(c)] = true;
  if (quotes)
    special_[static_cast<unsigned char>('"')] = true;
}

void csv_scanner::start(std::string_view text, bool last) noexcept {
  begin_ = at_ = text.data();
  end_ = begin_ + text.size();
  last_ = last;
  lines_ = 0;
}

csv_scanner::ending csv_scanner::next() {
  if (quotes_ && at_ != end_ && *at_ == '"')
    return quoted();
  const auto* first = at_;
  const auto* p = at_;
  while (p != end_ && !special_[static_cast<unsigned char>(*p)]) ++p;
  // After a carriage return at the end of the text, the first character of the next text is needed:
  // a line feed would end the same line.
  if (p != end_ && *p == '\r' && p + 1 == end_ && !last_)
    return ending::cut;
  if (p == end_ && !last_)
    return ending::cut;
  if (p != end_ && *p == '"' && quotes_) {
    at_ = p;
    return ending::stray_quote;
  }
  value_ = {first, static_cast<size_t>(p - first)};
  return finish(p);
}

// `end`: the position of a delimiter, of a line's end, or of the end of the text.
csv_scanner::ending csv_scanner::finish(const char* end) {
  at_ = end;
  if (at_ == end_)
    return ending::row;
  if (*at_ == delimiter_) {
    ++at_;
    return ending::field;
  }
  if (*at_ == '\r')
    ++at_;
  if (at_ != end_ && *at_ == '\n')
    ++at_;
  ++lines_;
  return ending::row;
}

csv_scanner::ending csv_scanner::quoted() {
  const auto* first = at_ + 1;
  bool escaped = false;
  const auto* p = first;
  while (true) {
    p = p == end_ ? nullptr
                  : static_cast<const char*>(std::memchr(p, '"', static_cast<size_t>(end_ - p)));
    if (!p && last_) {
      lines_ += static_cast<uint64_t>(std::count(first, end_, '\n'));
      at_ = end_; // the closing quote is missing, so the rest of the text belongs to the field
      return ending::open_quote;
    }
    if (!p || (p + 1 == end_ && !last_))
      return ending::cut;
    if (p + 1 == end_ || p[1] != '"')
      break;
    escaped = true;
    p += 2;
  }
  value_ = {first, static_cast<size_t>(p - first)};
  lines_ += static_cast<uint64_t>(std::count(first, p, '\n'));
  if (escaped) {
    unescaped_.clear();
    for (size_t i = 0; i < value_.size(); ++i) {
      unescaped_ += value_[i];
      i += value_[i] == '"';
    }
    value_ = unescaped_;
  }
  ++p;
  at_ = p;
  if (p != end_ && *p == '\r' && p + 1 == end_ && !last_)
    return ending::cut;
  const bool ends = p == end_ || *p == delimiter_ || *p == '\n' || *p == '\r';
  return ends ? finish(p) : ending::after_quote;
}

bool csv_scanner::skip_line() noexcept {
  const auto* p = std::find_if(at_, end_, [](char c) { return c == '\n' || c == '\r'; });
  // The text contains no end of the line, or ends with a carriage return that a line feed may
  // follow.
  if (p == end_ || (*p == '\r' && p + 1 == end_ && !last_)) {
    at_ = p;
    return p == end_ && last_;
  }
  at_ = p + (*p == '\r' && p + 1 != end_ && p[1] == '\n' ? 2 : 1);
  ++lines_;
  return true;
}

} // namespace headrace::detail
