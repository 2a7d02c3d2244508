#include "headrace/client/command/settings/settle.hpp"

#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/command/settings/settings_file.hpp"
#include "headrace/client/command/settings/suggestion.hpp"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

constexpr std::string_view prefix = "HEADRACE_";
constexpr const char* file_variable = "HEADRACE_CONFIG";

std::string without_prefix(const std::string& variable) { return variable.substr(prefix.size()); }

/// Not ok if the name of a variable is similar to a valid name: it is more likely a misspelling
/// than a variable of another program.
status check_names(const environment& variables) {
  texts known{without_prefix(file_variable)};
  for (const auto& one : all_settings()) known.push_back(without_prefix(one.variable()));
  for (const auto& [name, value] : variables) {
    if (name == "HEADRACE_DISPATCHER")
      return invalid_argument(name
                              + ": there is no such setting; HEADRACE_SERVICE names the "
                                "dispatcher");
    const auto word = without_prefix(name);
    if (std::find(known.begin(), known.end(), word) != known.end())
      continue;
    if (const auto meant = nearest(word, known); !meant.empty())
      return invalid_argument(
        fmt::format("{}: there is no such setting; did you mean {}{}?", name, prefix, meant));
  }
  return {};
}

texts written_in(const setting& what, const std::string& value) {
  return what.value.form == setting_value::shape::list ? between_commas(value) : texts{value};
}

/// For a service called `headrace`, Kubernetes sets HEADRACE_PORT=tcp://10.0.0.7:5050 in the pods
/// of its namespace. That value is not meant for the setting `port`.
bool is_of_kubernetes(const std::string& name, const std::string& value) {
  return name == "HEADRACE_PORT" && value.find("://") != std::string::npos;
}

status take_environment(settled& into, const environment& variables) {
  if (auto how = check_names(variables); !how)
    return how;
  for (const auto* what : settings_of(into.kind)) {
    const auto at = variables.find(what->variable());
    if (at == variables.end() || at->second.empty() || is_of_kubernetes(at->first, at->second))
      continue;
    if (auto how = what->value.set(into.values, written_in(*what, at->second)); !how)
      return how.with_context(at->first);
    into.from[what->name] = at->first;
  }
  return {};
}

status take_file(settled& into, const given_settings& given, const environment& variables) {
  auto file = given.file;
  if (const auto at = variables.find(file_variable); file.empty() && at != variables.end())
    file = at->second;
  if (file.empty())
    return {};
  auto all = read_settings_file(file, into.kind);
  if (!all)
    return all.status();
  for (const auto& one : *all) {
    if (auto how = one.what->value.set(into.values, one.written); !how)
      return how.with_context(one.where + ": " + one.what->key());
    into.from[one.what->name] = one.where;
  }
  return {};
}

status take_command_line(settled& into, const given_settings& given) {
  for (const auto* what : settings_of(into.kind))
    if (const auto at = given.values.find(what->name); at != given.values.end()) {
      if (auto how = what->value.set(into.values, at->second); !how)
        return how.with_context(what->flag());
      into.from[what->name] = "command line";
    }
  return {};
}

// -- checks of several settings ---------------------------------------------------------------

status check_room(const settled& x, const char* name, duration limit, duration heartbeat,
                  const char* who) {
  if (limit >= 2 * heartbeat)
    return {};
  return invalid_argument(fmt::format(
    "{} must be at least twice {}: {} and {} would let {} die of one late message", x.called(name),
    x.called("heartbeat"), duration_text(limit), duration_text(heartbeat), who));
}

status check_times(const settled& x) {
  const auto& v = x.values;
  if (x.kind == server_kind::worker)
    return v.own_heartbeat ? check_room(x, "lease", v.lease, *v.own_heartbeat, "the worker")
                           : status{};
  if (auto how = check_room(x, "lease", v.lease, v.heartbeat, "workers"); !how)
    return how;
  return check_room(x, "client-timeout", v.jobs.client_timeout, v.heartbeat, "trainers");
}

status check_tls(const settled& x) {
  const auto& tls = x.values.endpoint.tls;
  texts given, missing;
  for (const auto& [name, file] :
       {std::pair{"tls-cert", &tls.certificate}, std::pair{"tls-key", &tls.key},
        std::pair{"tls-ca", &tls.ca_file}})
    if (file->empty())
      missing.push_back(std::string{"--"} + name);
    else
      given.push_back(x.called(name));
  if (given.empty() || missing.empty())
    return {};
  return invalid_argument(fmt::format("{} is given without {}: a certificate, its key and an "
                                      "authority's file belong together",
                                      given.front(), missing.front()));
}

status check_processes(const settled& x) {
  if (!x.values.isolate || !x.values.process.no_restart)
    return {};
  return invalid_argument(x.called("isolate") + " and " + x.called("no-restart")
                          + " do not go together: who gives each server a process starts it again");
}

} // namespace

std::string settled::called(const std::string& name) const {
  const auto at = from.find(name);
  if (at == from.end() || at->second == "command line")
    return "--" + name;
  if (at->second.starts_with(prefix))
    return at->second;
  auto key = name;
  std::replace(key.begin(), key.end(), '-', '_');
  return fmt::format("{} ({})", key, at->second);
}

environment environment_of_process() {
  environment out;
  for (char** at = ::environ; at != nullptr && *at != nullptr; ++at)
    if (const std::string_view one{*at}; one.starts_with(prefix))
      if (const auto equals = one.find('='); equals != one.npos)
        out.emplace(one.substr(0, equals), one.substr(equals + 1));
  return out;
}

texts flags_for(const settled& from, server_kind to, const texts& but) {
  texts out;
  for (const auto* what : settings_of(from.kind)) {
    const auto known = settings_of(to);
    const auto same = [&](const setting* x) { return x->name == what->name; };
    if (!from.from.contains(what->name) || std::ranges::none_of(known, same)
        || std::ranges::find(but, what->name) != but.end())
      continue;
    const auto held = what->value.get(from.values).value_or(texts{});
    if (what->by_commas)
      out.push_back(fmt::format("{}={}", what->flag(), fmt::join(held, ",")));
    else
      for (const auto& one : held) out.push_back(fmt::format("{}={}", what->flag(), one));
  }
  return out;
}

texts no_variables() {
  texts out{std::string{file_variable} + "="};
  for (const auto& one : all_settings()) out.push_back(one.variable() + "=");
  return out;
}

result<settled> settle(server_kind kind, const given_settings& given,
                       const environment& variables) {
  settled out{.kind = kind, .values = defaults_of(kind), .from = {}};
  for (auto how :
       {take_environment(out, variables), take_file(out, given, variables),
        take_command_line(out, given), check_times(out), check_tls(out), check_processes(out)})
    if (!how)
      return how;
  // The process is killed only after the time for its drain has passed.
  if (kind == server_kind::worker)
    out.values.process.stop_budget = out.values.drain + std::chrono::milliseconds{400};
  return out;
}

} // namespace headrace::detail::command
