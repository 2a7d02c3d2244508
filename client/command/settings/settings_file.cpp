#include "headrace/client/command/settings/settings_file.hpp"

#include "headrace/client/command/settings/suggestion.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>
#include <toml++/toml.h>

namespace headrace::detail::command {
namespace {

std::optional<server_kind> kind_named(std::string_view name) {
  for (const auto kind : server_kinds)
    if (to_string(kind) == name)
      return kind;
  return std::nullopt;
}

/// The text form of one value; nullopt if no setting has values of this TOML type.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* text = node.as_string())
    return text->get();
  if (const auto* number = node.as_integer())
    return std::to_string(number->get());
  if (const auto* flag = node.as_boolean())
    return flag->get() ? "true" : "false";
  return std::nullopt;
}

std::string_view kind_of(const toml::node& node) {
  switch (node.type()) {
  case toml::node_type::table: return "a table";
  case toml::node_type::array: return "an array";
  case toml::node_type::string: return "a text";
  case toml::node_type::integer: return "a whole number";
  case toml::node_type::floating_point: return "a fraction";
  case toml::node_type::boolean: return "true or false";
  default: return "a date or a time of the day";
  }
}

result<texts> written_in(const setting& what, const toml::node& node) {
  const bool is_list = what.value.form == setting_value::shape::list;
  const auto fail = [&](const toml::node& part) {
    return invalid_argument(fmt::format(
      "{} would be right, not {}", is_list ? "an array of texts" : "one value", kind_of(part)));
  };
  texts out;
  if (const auto* all = node.as_array()) {
    if (!is_list)
      return fail(node);
    for (const auto& part : *all)
      if (part.is_string())
        out.push_back(*text_of(part));
      else
        return fail(part);
    return out;
  }
  if (is_list && !node.is_string())
    return fail(node);
  const auto text = text_of(node);
  if (!text)
    return fail(node);
  return texts{*text};
}

bool holds_nul(const std::string& text) { return text.find('\0') != std::string::npos; }

class reader {
public:
  reader(std::string file, server_kind kind) : file_(std::move(file)), kind_(kind) {}

  status read(const toml::table& all) {
    // The settings in the table of one kind of server come last, so that they replace the settings
    // at the top, which are for all servers.
    std::vector<file_value> own;
    for (const auto& [key, node] : all)
      if (const auto* part = node.as_table()) {
        const auto kind = kind_named(key.str());
        if (!kind)
          return unknown_table(key);
        for (const auto& [inner, value] : *part)
          if (auto how = take(inner, value, kind, own); !how)
            return how;
      } else if (auto how = take(key, node, std::nullopt, out_); !how) {
        return how;
      }
    std::ranges::move(own, std::back_inserter(out_));
    return {};
  }
  std::vector<file_value> take_all() { return std::move(out_); }

private:
  std::string where(const toml::key& key) const {
    return fmt::format("{}:{}", file_, key.source().begin.line);
  }

  status unknown_table(const toml::key& key) const {
    return invalid_argument(
      fmt::format("{}: there is no table [{}]; there is [dispatcher], [worker] and [up]",
                  where(key), key.str()));
  }

  /// The error for a key that is no setting. `kind`: the server of the table that contains the key;
  /// unset: the key is at the top.
  status unknown_key(const toml::key& key, std::optional<server_kind> kind) const {
    texts known;
    for (const auto& one : all_settings())
      if (!kind || one.is_of(*kind))
        known.push_back(one.key());
    std::string word{key.str()};
    const auto in = fmt::format("{}: {}: there is no such setting{}", where(key), word,
                                kind ? fmt::format(" of [{}]", to_string(*kind)) : "");
    std::replace(word.begin(), word.end(), '-', '_');
    if (const auto meant = nearest(word, known); !meant.empty())
      return invalid_argument(fmt::format("{}; did you mean {}?", in, meant));
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return invalid_argument(fmt::format("{}; there is {}", in, fmt::join(known, ", ")));
  }

  status take(const toml::key& key, const toml::node& node, std::optional<server_kind> kind,
              std::vector<file_value>& into) {
    bool known = false;
    for (const auto& one : all_settings()) {
      if (one.key() != key.str() || (kind && !one.is_of(*kind)))
        continue;
      known = true;
      auto written = written_in(one, node);
      if (written && std::ranges::any_of(*written, holds_nul))
        written = invalid_argument("it holds a NUL character, where the system would cut it");
      auto scratch = defaults_of(one.of.front());
      if (auto how = written ? one.value.set(scratch, *written) : written.status(); !how)
        return how.with_context(fmt::format("{}: {}", where(key), key.str()));
      if (one.is_of(kind_) && (!kind || *kind == kind_))
        into.push_back({&one, *std::move(written), where(key)});
    }
    return known ? status{} : unknown_key(key, kind);
  }

  std::string file_;
  server_kind kind_;
  std::vector<file_value> out_;
};

/// The text of a file. A file of more than 1 MiB, such as a device without an end, is refused.
result<std::string> text_in(const std::string& file) {
  constexpr size_t most = 1 << 20;
  std::string text(most + 1, '\0');
  std::ifstream in{file, std::ios::binary};
  if (in)
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.eof() && in.gcount() == static_cast<std::streamsize>(text.size()))
    return invalid_argument(
      fmt::format("{}: is larger than {} bytes, which no file of settings is", file, most));
  if (!in.eof() || in.bad())
    return not_found(fmt::format("{}: cannot be read: {}", file, std::strerror(errno)));
  text.resize(static_cast<size_t>(in.gcount()));
  return text;
}

} // namespace

result<std::vector<file_value>> read_settings_file(const std::string& file, server_kind kind) {
  if (std::error_code ignored; std::filesystem::is_directory(file, ignored))
    return invalid_argument(file + ": is a directory, not a file");
  HEADRACE_ASSIGN(const auto text, text_in(file));
  reader out{file, kind};
  try {
    if (auto how = out.read(toml::parse(text)); !how)
      return how;
  } catch (const toml::parse_error& e) {
    return invalid_argument(fmt::format("{}:{}: {}", file, e.source().begin.line, e.description()));
  }
  return out.take_all();
}

} // namespace headrace::detail::command
