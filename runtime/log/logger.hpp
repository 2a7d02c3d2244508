#pragma once

#include "headrace/runtime/base/result.hpp"

#include <concepts>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <variant>

namespace headrace {

enum class log_level : uint8_t { trace, debug, info, warn, error, off };
/// `text`: one readable line for each event; `json`: one object for each event, on one line.
enum class log_format : uint8_t { text, json };

std::string_view to_string(log_level x) noexcept;
std::string_view to_string(log_format x) noexcept;
/// Reads the names that `to_string` returns; an error lists them.
result<log_level> parse_log_level(std::string_view name);
result<log_format> parse_log_format(std::string_view name);

struct log_options {
  log_level level = log_level::info;
  log_format format = log_format::text;
  /// The file to which lines are appended; empty: standard error.
  std::string file;
  /// If set, this function is called with every line (without the line break), and nothing is
  /// written to the file or standard error. Called by one thread at a time.
  std::function<void(std::string_view line)> sink;
};

/// The value of a field: text, number or bool. It refers to the caller's text, so it must not be
/// kept after the call that writes the line.
class log_value {
public:
  log_value(std::string_view x) : rep_(x) {}
  log_value(const char* x) : rep_(std::string_view{x}) {}
  log_value(const std::string& x) : rep_(std::string_view{x}) {}
  log_value(bool x) : rep_(x) {}
  log_value(std::signed_integral auto x) : rep_(static_cast<int64_t>(x)) {}
  log_value(std::unsigned_integral auto x) : rep_(static_cast<uint64_t>(x)) {}
  log_value(std::floating_point auto x) : rep_(static_cast<double>(x)) {}
  /// For ids, statuses and other types with a `to_string`.
  template <class T>
  requires(
    std::is_class_v<
      T> && !std::convertible_to<T, std::string_view> && requires(const T& x) { to_string(x); })
    log_value(const T& x)
    : rep_(std::string{to_string(x)}) {}

  using rep = std::variant<std::string_view, std::string, bool, int64_t, uint64_t, double>;
  const rep& get() const noexcept { return rep_; }

private:
  rep rep_;
};

struct log_field {
  std::string_view key;
  log_value value;
};

/// Writes log lines, one for each event: `log.info("worker joined", {{"worker", id}})`. A cheap
/// handle: copies share the destination. Thread-safe.
class logger {
public:
  /// A logger that writes nothing.
  logger() noexcept = default;
  /// An error names the file that cannot be opened.
  static result<logger> open(log_options options);

  using fields = std::initializer_list<log_field>;

  void trace(std::string_view text, fields xs = {}) const { write(log_level::trace, text, xs); }
  void debug(std::string_view text, fields xs = {}) const { write(log_level::debug, text, xs); }
  void info(std::string_view text, fields xs = {}) const { write(log_level::info, text, xs); }
  void warn(std::string_view text, fields xs = {}) const { write(log_level::warn, text, xs); }
  void error(std::string_view text, fields xs = {}) const { write(log_level::error, text, xs); }
  void write(log_level level, std::string_view text, fields xs = {}) const;

  bool enabled(log_level level) const noexcept;
  /// A logger that puts `xs` before the fields of each of its lines.
  logger with(fields xs) const;

private:
  struct impl;
  std::shared_ptr<const impl> impl_;
};

} // namespace headrace
