#pragma once

#include "headrace/client/command/settings/server_settings.hpp"
#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace headrace::detail::command {

using texts = std::vector<std::string>;

/// The text form of a setting's value, and the place where the value is stored.
struct setting_value {
  /// The form of a value in a file: a number and a flag may be written without quotation marks.
  enum class shape : uint8_t { text, number, flag, list };

  std::string type; ///< the kind of value, for users: `TIME`
  shape form = shape::text;
  /// Converts the text form of a value (one text, or any number for a list) and stores the value.
  /// If the text is invalid, nothing is changed, and the error contains the fault and a valid form.
  std::function<status(server_settings&, const texts&)> set;
  /// The present value, in the form that `set` reads; nullopt: unset.
  std::function<std::optional<texts>(const server_settings&)> get;
};

// -- makers; `at` returns the member of the settings in which the value is stored ---------

template <class T>
using place = std::function<T&(server_settings&)>;

/// Any text; the empty one means that the setting is unset.
setting_value text_value(std::string type, place<std::string> at);
/// As above, but an empty text is an error. `what`: the word in the error for the thing that is
/// named, such as `directory`.
setting_value name_value(std::string type, place<std::string> at, std::string what);
/// `host:port`, or a cluster address (`cluster_address.hpp`).
setting_value dispatcher_value(place<std::string> at);
/// `host:port`, or empty: none.
setting_value address_or_none_value(place<std::string> at);
setting_value list_value(std::string type, place<texts> at);
/// The list of workers that may register.
setting_value roster_value(place<texts> at);
setting_value flag_value(place<bool> at);
setting_value port_value(place<uint16_t> at);
/// A port, or the word `auto` or `off`.
setting_value web_port_value(place<web_port> at);
setting_value bytes_value(place<uint64_t> at);
setting_value count_value(place<size_t> at);
/// A number from `least` to `most`.
setting_value number_value(place<int> at, int least, int most);
/// A number of workers, or a range: `2..8`.
setting_value workers_value(place<worker_range> at, int most);
/// A positive length of time.
setting_value time_value(place<duration> at);
/// As above, or `never`, which means that the time is unset. `least`: the shortest valid time.
setting_value time_or_never_value(place<std::optional<duration>> at, duration least);
/// A positive length of time; an unset one has no text.
setting_value optional_time_value(place<std::optional<duration>> at);
setting_value deployment_value(place<deployment_mode> at);
setting_value log_level_value(place<log_level> at);
setting_value log_format_value(place<log_format> at);

} // namespace headrace::detail::command
