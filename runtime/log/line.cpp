#include "headrace/runtime/log/line.hpp"

#include "headrace/runtime/base/utf8.hpp"

#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace headrace::detail {
namespace {

bool append_escape(std::string& out, char c) {
  switch (c) {
  case '\n': out += "\\n"; return true;
  case '\r': out += "\\r"; return true;
  case '\t': out += "\\t"; return true;
  default:
    if (static_cast<unsigned char>(c) >= 0x20 && c != 0x7F)
      return false;
    fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    return true;
  }
}

bool needs_quotes(std::string_view x) {
  if (x.empty())
    return true;
  for (char c : x)
    if (static_cast<unsigned char>(c) <= ' ' || c == '"' || c == '=' || c == '\\' || c == 0x7F)
      return true;
  return false;
}

void append_value(std::string& out, log_format format, std::string_view x) {
  if (format == log_format::json || needs_quotes(x))
    append_json_string(out, x);
  else
    out += x;
}
void append_value(std::string& out, log_format, bool x) { out += x ? "true" : "false"; }
void append_value(std::string& out, log_format format, double x) {
  if (format == log_format::json && !std::isfinite(x))
    return append_json_string(out, fmt::format("{}", x)); // JSON cannot represent such numbers
  fmt::format_to(std::back_inserter(out), "{}", x);
}
template <class Integer>
void append_value(std::string& out, log_format, Integer x) {
  fmt::format_to(std::back_inserter(out), "{}", x);
}

} // namespace

void append_json_string(std::string& out, std::string_view x) {
  out += '"';
  for (size_t i = 0; i < x.size();) {
    auto n = utf8_length(x, i);
    if (n == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
      continue;
    }
    if (n == 1 && (x[i] == '"' || x[i] == '\\'))
      (out += '\\') += x[i];
    else if (n > 1 || !append_escape(out, x[i]))
      out += x.substr(i, n);
    i += n;
  }
  out += '"';
}

void append_text(std::string& out, std::string_view x) {
  for (char c : x)
    if (!append_escape(out, c))
      out += c;
}

void append_fields(std::string& out, log_format format, logger::fields xs) {
  for (const auto& x : xs) {
    if (format == log_format::json) {
      out += ',';
      append_json_string(out, x.key);
      out += ':';
    } else {
      ((out += ' ') += x.key) += '=';
    }
    std::visit([&](const auto& value) { append_value(out, format, value); }, x.value.get());
  }
}

} // namespace headrace::detail
