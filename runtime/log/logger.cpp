#include "headrace/runtime/log/logger.hpp"

#include "headrace/runtime/log/line.hpp"
#include "headrace/runtime/log/line_output.hpp"

#include <array>
#include <cstdio>
#include <fcntl.h>
#include <spdlog/logger.h>
#include <spdlog/sinks/base_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <unistd.h>

namespace headrace {
using namespace detail;
namespace {

constexpr std::array<std::string_view, 6> level_names = {"trace", "debug", "info",
                                                         "warn",  "error", "off"};
constexpr std::array<std::string_view, 2> format_names = {"text", "json"};

template <class Enum, size_t N>
result<Enum> parse_name(const std::array<std::string_view, N>& names, std::string_view what,
                        std::string_view name) {
  std::string known;
  for (size_t i = 0; i < N; ++i) {
    if (names[i] == name)
      return static_cast<Enum>(i);
    ((known += i == 0 ? "" : ", ")) += names[i];
  }
  return invalid_argument("unknown " + std::string{what} + " \"" + std::string{name}
                          + "\": must be one of " + known);
}

spdlog::level::level_enum to_spdlog(log_level x) {
  constexpr std::array levels = {spdlog::level::trace, spdlog::level::debug, spdlog::level::info,
                                 spdlog::level::warn,  spdlog::level::err,   spdlog::level::off};
  return levels[static_cast<size_t>(x)];
}

/// Passes complete lines to a function.
class function_sink final : public spdlog::sinks::base_sink<std::mutex> {
public:
  explicit function_sink(std::function<void(std::string_view)> f) : f_(std::move(f)) {}

private:
  void sink_it_(const spdlog::details::log_msg& msg) override {
    spdlog::memory_buf_t line;
    base_sink::formatter_->format(msg, line);
    std::string_view view{line.data(), line.size()};
    f_(view.substr(0, view.find_last_not_of("\r\n") + 1));
  }
  void flush_() override {}

  std::function<void(std::string_view)> f_;
};

/// The standard error of the process, which all loggers without a file or sink share.
line_output& standard_error() {
  static line_output the{STDERR_FILENO};
  return the;
}

spdlog::sink_ptr make_sink(log_options& options) {
  if (options.sink)
    return std::make_shared<function_sink>(std::move(options.sink));
  if (!options.file.empty()) {
    spdlog::file_event_handlers on;
    // Programs that this process starts must not inherit the file.
    on.after_open = [](const spdlog::filename_t&, std::FILE* file) {
      ::fcntl(::fileno(file), F_SETFD, FD_CLOEXEC);
    };
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file, false, on);
  }
  return std::make_shared<function_sink>(
    [](std::string_view line) { standard_error().write(line); });
}

} // namespace

std::string_view to_string(log_level x) noexcept { return level_names[static_cast<size_t>(x)]; }
std::string_view to_string(log_format x) noexcept { return format_names[static_cast<size_t>(x)]; }
result<log_level> parse_log_level(std::string_view name) {
  return parse_name<log_level>(level_names, "log level", name);
}
result<log_format> parse_log_format(std::string_view name) {
  return parse_name<log_format>(format_names, "log format", name);
}

struct logger::impl {
  std::shared_ptr<spdlog::logger> out;
  log_format format;
  log_level level;
  /// The formatted fields that `with` has added.
  std::string context;
};

result<logger> logger::open(log_options options) {
  try {
    // The logger is not registered with spdlog, so that there are no process-wide loggers.
    auto out = std::make_shared<spdlog::logger>("headrace", make_sink(options));
    out->set_level(to_spdlog(options.level));
    out->flush_on(spdlog::level::trace);
    out->set_pattern(options.format == log_format::json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%e%z",%v})"
                                                        : "%Y-%m-%dT%H:%M:%S.%e%z %v");
    logger x;
    x.impl_ = std::make_shared<impl>(impl{std::move(out), options.format, options.level, {}});
    return x;
  } catch (const spdlog::spdlog_ex& e) {
    return status{status_code::failed_precondition,
                  "cannot log to \"" + options.file + "\": " + e.what()};
  }
}

bool logger::enabled(log_level level) const noexcept {
  return impl_ && level != log_level::off && level >= impl_->level;
}

void logger::write(log_level level, std::string_view text, fields xs) const {
  if (!enabled(level))
    return;
  std::string line;
  if (impl_->format == log_format::json) {
    ((line += R"("level":")") += to_string(level)) += R"(","message":)";
    append_json_string(line, text);
  } else {
    // The name is padded, so that the texts are aligned.
    auto name = to_string(level);
    ((line += name) += std::string_view{"      "}.substr(name.size()));
    append_text(line, text);
  }
  line += impl_->context;
  append_fields(line, impl_->format, xs);
  impl_->out->log(to_spdlog(level), spdlog::string_view_t{line.data(), line.size()});
}

logger logger::with(fields xs) const {
  logger x;
  if (impl_) {
    auto copy = std::make_shared<impl>(*impl_);
    append_fields(copy->context, copy->format, xs);
    x.impl_ = std::move(copy);
  }
  return x;
}

} // namespace headrace
