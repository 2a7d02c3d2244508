#include "headrace/client/command/settings/setting_flags.hpp"

#include "headrace/client/command/settings/option_values.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace headrace::detail::command {
namespace {

/// Records the text of a setting if the value is valid; else throws `CLI::ValidationError`.
void take(const setting& what, server_kind kind, const texts& written, given_settings& into) {
  auto scratch = defaults_of(kind);
  if (auto how = what.value.set(scratch, written); !how)
    throw CLI::ValidationError{what.flag(), how.message()};
  into.values[what.name] = written;
}

CLI::Option* add_flag(CLI::App& app, const setting& what, server_kind kind, given_settings& into) {
  switch (what.value.form) {
  case setting_value::shape::flag:
    return app.add_flag_function(
      what.flag(),
      [&what, kind, &into](int64_t count) {
        take(what, kind, {count > 0 ? "true" : "false"}, into);
      },
      what.help);
  case setting_value::shape::list:
    return app
      .add_option_function<texts>(
        what.flag(),
        [&what, kind, &into](const texts& given) {
          texts all;
          for (const auto& text : given)
            std::ranges::move(what.by_commas ? between_commas(text) : texts{text},
                              std::back_inserter(all));
          take(what, kind, all, into);
        },
        what.help)
      ->allow_extra_args(false);
  default:
    return app.add_option_function<std::string>(
      what.flag(),
      [&what, kind, &into](const std::string& text) { take(what, kind, {text}, into); }, what.help);
  }
}

} // namespace

std::string names_a_file(const std::string& value) {
  return value.empty() ? "it must name a file" : "";
}

void add_setting_flags(CLI::App& app, server_kind kind, given_settings& into) {
  app
    .add_option("--config", into.file,
                "TOML file with more of these settings, by their names (with _ for -); the command "
                "line goes before it, and it before the environment (HEADRACE_PORT and so on)")
    ->type_name("FILE")
    ->check(names_a_file);
  const auto defaults = defaults_of(kind);
  for (const auto* what : settings_of(kind)) {
    auto* option = add_flag(app, *what, kind, into);
    if (!what->group.empty())
      option->group(what->group);
    if (what->value.form == setting_value::shape::flag)
      continue;
    option->type_name(what->value.type);
    if (const auto held = what->value.get(defaults))
      option->default_str(held->front());
    else
      option->description(what->help + "; default: " + what->not_set);
  }
}

void add_settings(CLI::App& app, server_kind kind, std::function<void(const settled&)> use) {
  auto given = std::make_shared<given_settings>();
  add_setting_flags(app, kind, *given);
  app.callback([given, kind, use = std::move(use)] {
    const auto out = settle(kind, *given, environment_of_process());
    if (!out)
      throw CLI::ValidationError{out.status().message()};
    use(*out);
  });
}

} // namespace headrace::detail::command
