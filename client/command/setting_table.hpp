#pragma once

#include "headrace/client/command/setting_value.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace headrace::command {

/// One setting of servers: a row of the table from which come the flags, the keys of a file, the
/// environment variables, what `headrace config` prints, and docs/configuration.md.
struct setting {
  std::string name; ///< of the flag, without its dashes: `job-gc-timeout`
  std::vector<server_kind> of;
  setting_value value;
  std::string help;
  std::string cpp = {};         ///< the member of the server's options in C++; empty: none
  std::string python = {};      ///< the field of `DispatcherConfig` or `WorkerConfig`; empty: none
  std::string group = {};       ///< of the help; empty: options
  std::string not_set = {};     ///< what holds then, for people; empty: the value of `get`
  std::string variable_as = {}; ///< the environment variable, if not made of the name
  bool by_commas = false;       ///< a list that stands in one argument, with commas between

  bool is_of(server_kind kind) const noexcept;
  std::string flag() const { return "--" + name; }
  std::string key() const;      ///< in a file: `job_gc_timeout`
  std::string variable() const; ///< in the environment: `HEADRACE_JOB_GC_TIMEOUT`
};

/// All of them. A name may occur twice, for different kinds of servers.
const std::vector<setting>& all_settings();
/// Those of one kind, in the order of the table.
std::vector<const setting*> settings_of(server_kind kind);

} // namespace headrace::command
