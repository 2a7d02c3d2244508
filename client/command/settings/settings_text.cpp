#include "headrace/client/command/settings/settings_text.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

namespace headrace::detail::command {
namespace {

/// Bytes that are not UTF-8, for instance in the name of a file, are replaced. By default,
/// `nlohmann::json` would throw for them.
constexpr auto as_replacement = nlohmann::json::error_handler_t::replace;

/// A text in the form of TOML, which is that of JSON except for the control character 0x7f.
std::string quoted(const std::string& x) {
  std::string out;
  for (const char c : nlohmann::json(x).dump(-1, ' ', false, as_replacement))
    if (c == '\x7f')
      out += "\\u007f";
    else
      out += c;
  return out;
}

/// True for a number. Numeric settings may also have words as values: a port may be `auto`.
bool is_number(const std::string& x) {
  return !x.empty() && std::ranges::all_of(x, [](char c) { return c >= '0' && c <= '9'; });
}

std::string toml_text(const setting& what, const texts& held) {
  switch (what.value.form) {
  case setting_value::shape::number:
    return is_number(held.front()) ? held.front() : quoted(held.front());
  case setting_value::shape::flag: return held.front();
  case setting_value::shape::text: return quoted(held.front());
  case setting_value::shape::list: break;
  }
  texts all;
  for (const auto& one : held) all.push_back(quoted(one));
  return fmt::format("[{}]", fmt::join(all, ", "));
}

std::string kinds_text(const setting& what) {
  texts all;
  for (const auto kind : what.of) all.emplace_back(to_string(kind));
  return fmt::format("{}", fmt::join(all, ", "));
}

std::string code(std::string_view x) { return x.empty() ? "" : fmt::format("`{}`", x); }

/// As `code`, for each item of a list that is separated by commas.
std::string codes(const std::string& x) {
  std::string out;
  for (size_t begin = 0; begin < x.size();) {
    const auto end = std::min(x.find(", ", begin), x.size());
    out += (out.empty() ? "" : ", ") + code(std::string_view{x}.substr(begin, end - begin));
    begin = end + 2;
  }
  return out;
}

} // namespace

std::string settings_text(const settled& x) {
  std::vector<std::pair<std::string, std::string>> lines;
  size_t width = 0;
  for (const auto* what : settings_of(x.kind)) {
    const auto held = what->value.get(x.values);
    const auto at = x.from.find(what->name);
    const auto& line =
      lines.emplace_back(held ? fmt::format("{} = {}", what->key(), toml_text(*what, *held))
                              : fmt::format("#{} =", what->key()),
                         at != x.from.end() ? at->second
                         : held             ? "default"
                                            : "not set: " + what->not_set);
    width = std::max(width, std::min(line.first.size(), size_t{44}));
  }
  std::string out;
  for (const auto& [value, from] : lines) out += fmt::format("{:<{}}  # {}\n", value, width, from);
  return out;
}

std::string settings_json(const settled& x) {
  nlohmann::ordered_json out;
  for (const auto* what : settings_of(x.kind)) {
    const auto held = what->value.get(x.values);
    nlohmann::ordered_json value;
    if (held && what->value.form == setting_value::shape::list)
      value = *held;
    else if (held
             && (what->value.form == setting_value::shape::text
                 || (what->value.form == setting_value::shape::number
                     && !is_number(held->front()))))
      value = held->front();
    else if (held)
      value = nlohmann::ordered_json::parse(held->front());
    const auto at = x.from.find(what->name);
    out[what->key()] = {{"value", value}, {"from", at != x.from.end() ? at->second : "default"}};
  }
  return out.dump(-1, ' ', false, as_replacement) + "\n";
}

std::string settings_markdown() {
  std::string out = "| key | of | default | what | in C++ | in Python |\n"
                    "| --- | --- | --- | --- | --- | --- |\n";
  for (const auto& what : all_settings()) {
    const auto held = what.value.get(defaults_of(what.of.front()));
    out += fmt::format("| `{}` | {} | {} | {} | {} | {} |\n", what.key(), kinds_text(what),
                       held ? code(toml_text(what, *held)) : what.not_set, what.help,
                       code(what.cpp), codes(what.python));
  }
  return out;
}

} // namespace headrace::detail::command
