#include "headrace/client/command/settings/setting_value.hpp"

#include "headrace/actors/dispatcher/worker_roster.hpp"
#include "headrace/client/command/clusters/cluster_address.hpp"
#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/runtime/base/address.hpp"

#include <charconv>
#include <fmt/format.h>
#include <utility>

namespace headrace::detail::command {
namespace {

using shape = setting_value::shape;

/// A value whose text form is one text, and not a list. `read` converts the text to the value;
/// `show` converts the value to the text (nullopt: unset).
template <class T, class Read, class Show>
setting_value one(std::string type, shape form, place<T> at, Read read, Show show) {
  return {
    .type = std::move(type),
    .form = form,
    .set = [at, read = std::move(read)](server_settings& into, const texts& written) -> status {
      if (written.size() != 1)
        return invalid_argument(
          fmt::format("{} values are given; one would be right", written.size()));
      HEADRACE_ASSIGN(at(into), read(written.front()));
      return {};
    },
    .get = [at, show = std::move(show)](const server_settings& from) -> std::optional<texts> {
      // `at` needs a mutable object, because `set` uses it, too. Here the object is not changed.
      const std::optional<std::string> shown = show(at(const_cast<server_settings&>(from)));
      if (!shown)
        return std::nullopt;
      return texts{*shown};
    },
  };
}

std::optional<std::string> shown_unless_empty(const std::string& x) {
  return x.empty() ? std::nullopt : std::optional{x};
}

result<duration> read_time(const std::string& text) {
  HEADRACE_ASSIGN(auto out, parse_duration(text));
  if (out <= duration::zero())
    return invalid_argument("it must be longer than nothing, not '" + text + "'");
  return out;
}

/// A whole number from `least` to `most`. `wanted`: the second part of the error message.
template <class T>
result<T> read_number(const std::string& text, T least, T most, std::string_view wanted) {
  T out{};
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (code != std::errc{} || end != text.data() + text.size() || out < least || out > most)
    return invalid_argument(fmt::format("'{}' is {}", text, wanted));
  return out;
}

result<std::string> read_address(const std::string& text) {
  if (auto where = parse_address(text); !where)
    return where.status();
  return text;
}

std::string bytes_text(uint64_t x) {
  std::string_view units = "KMGT";
  size_t unit = 0;
  while (x != 0 && x % 1024 == 0 && unit < units.size()) x /= 1024, ++unit;
  return std::to_string(x) + (unit == 0 ? "" : std::string{units[unit - 1]});
}

} // namespace

setting_value text_value(std::string type, place<std::string> at) {
  return one(
    std::move(type), shape::text, std::move(at),
    [](const std::string& text) -> result<std::string> { return text; }, shown_unless_empty);
}

setting_value name_value(std::string type, place<std::string> at, std::string what) {
  return one(
    std::move(type), shape::text, std::move(at),
    [what = std::move(what)](const std::string& text) -> result<std::string> {
      if (text.empty())
        return invalid_argument("names no " + what);
      return text;
    },
    shown_unless_empty);
}

setting_value dispatcher_value(place<std::string> at) {
  return one(
    "HOST:PORT", shape::text, std::move(at),
    [](const std::string& text) -> result<std::string> {
      if (is_cluster_address(text))
        return text;
      auto read = read_address(text);
      if (!read)
        return invalid_argument(read.status().message()
                                + ", or tf-config:[JOB], slurm:[PORT], kubernetes:SELECTOR[:PORT]");
      return read;
    },
    shown_unless_empty);
}

setting_value address_or_none_value(place<std::string> at) {
  return one(
    "HOST:PORT", shape::text, std::move(at),
    [](const std::string& text) -> result<std::string> {
      return text.empty() ? result<std::string>{text} : read_address(text);
    },
    shown_unless_empty);
}

setting_value list_value(std::string type, place<texts> at) {
  return {
    .type = std::move(type),
    .form = shape::list,
    .set = [at](server_settings& into, const texts& written) -> status {
      for (const auto& text : written)
        if (text.empty())
          return invalid_argument("one of them is empty");
      at(into) = written;
      return {};
    },
    .get = [at](const server_settings& from) -> std::optional<texts> {
      const auto& all = at(const_cast<server_settings&>(from));
      return all.empty() ? std::nullopt : std::optional{all};
    },
  };
}

setting_value roster_value(place<texts> at) {
  auto out = list_value("HOST[:PORT],...", std::move(at));
  out.set = [set = std::move(out.set)](server_settings& into, const texts& written) -> status {
    if (auto how = worker_roster::of(written); !how)
      return how.status();
    return set(into, written);
  };
  return out;
}

setting_value flag_value(place<bool> at) {
  return one(
    "", shape::flag, std::move(at),
    [](const std::string& text) -> result<bool> {
      if (text != "true" && text != "false")
        return invalid_argument("'" + text + "' is neither true nor false");
      return text == "true";
    },
    [](bool x) { return std::optional<std::string>{x ? "true" : "false"}; });
}

setting_value port_value(place<uint16_t> at) {
  return one(
    "PORT", shape::number, std::move(at),
    [](const std::string& text) {
      return read_number<uint16_t>(text, 0, 65535,
                                   "not a port: a number from 0 (any free one) to 65535");
    },
    [](uint16_t x) { return std::optional{std::to_string(x)}; });
}

setting_value workers_value(place<worker_range> at, int most) {
  return one(
    "N[..M]", shape::number, std::move(at),
    [most](const std::string& text) -> result<worker_range> {
      const auto dots = text.find("..");
      const auto least = read_number(text.substr(0, dots), 0, most, {});
      const auto upper =
        dots == std::string::npos ? least : read_number(text.substr(dots + 2), 0, most, {});
      if (!least || !upper || *upper < *least)
        return invalid_argument(fmt::format(
          "'{}' is not a number of workers from 0 to {}, or a range of them such as 2..8", text,
          most));
      return worker_range{*least, *upper};
    },
    [](const worker_range& x) -> std::optional<std::string> {
      return x.least == x.most ? std::to_string(x.least) : fmt::format("{}..{}", x.least, x.most);
    });
}

setting_value web_port_value(place<web_port> at) {
  return one(
    "PORT", shape::number, std::move(at),
    [](const std::string& text) -> result<web_port> {
      if (text == "off")
        return web_port{web_port::choice::off, 0};
      if (text == "auto")
        return web_port{web_port::choice::automatic, 0};
      HEADRACE_ASSIGN(
        const auto port,
        read_number<uint16_t>(text, 0, UINT16_MAX, "not a port (0 to 65535), auto or off"));
      return web_port{web_port::choice::given, port};
    },
    [](const web_port& x) -> std::optional<std::string> {
      return x.how == web_port::choice::off         ? "off"
             : x.how == web_port::choice::automatic ? "auto"
                                                    : std::to_string(x.port);
    });
}

setting_value bytes_value(place<uint64_t> at) {
  return one("BYTES", shape::text, std::move(at), parse_bytes,
             [](uint64_t x) { return std::optional{bytes_text(x)}; });
}

setting_value count_value(place<size_t> at) {
  return one(
    "N", shape::number, std::move(at),
    [](const std::string& text) {
      return read_number<size_t>(text, 0, SIZE_MAX, "not a whole number of 0 or more");
    },
    [](size_t x) { return std::optional{std::to_string(x)}; });
}

setting_value number_value(place<int> at, int least, int most) {
  return one(
    "N", shape::number, std::move(at),
    [=](const std::string& text) {
      return read_number(text, least, most, fmt::format("not in range {} to {}", least, most));
    },
    [](int x) { return std::optional{std::to_string(x)}; });
}

setting_value time_value(place<duration> at) {
  return one("TIME", shape::text, std::move(at), read_time,
             [](duration x) { return std::optional{duration_text(x)}; });
}

setting_value time_or_never_value(place<std::optional<duration>> at, duration least) {
  return one(
    "TIME", shape::text, std::move(at),
    [least](const std::string& text) -> result<std::optional<duration>> {
      if (text == "never")
        return std::optional<duration>{};
      const auto out = parse_duration(text);
      if (!out)
        return invalid_argument(out.status().message() + ", or never");
      if (*out < least)
        return invalid_argument("it must be longer than nothing, or never, not '" + text + "'");
      return std::optional{*out};
    },
    [](const std::optional<duration>& x) {
      return std::optional{x ? duration_text(*x) : std::string{"never"}};
    });
}

setting_value optional_time_value(place<std::optional<duration>> at) {
  return one(
    "TIME", shape::text, std::move(at),
    [](const std::string& text) -> result<std::optional<duration>> {
      HEADRACE_ASSIGN(auto out, read_time(text));
      return std::optional{out};
    },
    [](const std::optional<duration>& x) {
      return x ? std::optional{duration_text(*x)} : std::nullopt;
    });
}

setting_value log_level_value(place<log_level> at) {
  return one("LEVEL", shape::text, std::move(at), parse_log_level,
             [](log_level x) { return std::optional{std::string{to_string(x)}}; });
}

setting_value deployment_value(place<deployment_mode> at) {
  return one("MODE", shape::text, std::move(at), deployment_mode_of,
             [](deployment_mode x) { return std::optional{std::string{to_string(x)}}; });
}

setting_value log_format_value(place<log_format> at) {
  return one("FORMAT", shape::text, std::move(at), parse_log_format,
             [](log_format x) { return std::optional{std::string{to_string(x)}}; });
}

} // namespace headrace::detail::command
