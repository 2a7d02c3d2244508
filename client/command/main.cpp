#include "headrace/client/command/settings/suggestion.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/prctl.h>
#include <unistd.h>

namespace headrace::detail::command {
namespace {

std::string exit_codes() {
  std::string out = "Exit codes:\n";
  for (int code = 0; code < 128; ++code)
    if (auto text = describe(static_cast<exit_code>(code)); !text.empty())
      out += fmt::format("  {:<4}{}\n", code, text);
  return out + "  128+n ended by signal n";
}

std::vector<std::string> names_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* sub : app.get_subcommands([](const CLI::App*) { return true; }))
    out.push_back(sub->get_name());
  return out;
}

std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> out;
  for (const auto* option : app.get_options())
    for (const auto& name : option->get_lnames()) out.push_back("--" + name);
  return out;
}

int usage_error(const std::string& text, const std::string& hint) {
  std::fprintf(stderr, "headrace: %s\n%s\n", text.c_str(), hint.c_str());
  return static_cast<int>(exit_code::usage);
}

/// A hint with the valid option that is most similar to an unknown one; empty if none is similar.
std::string meant_option(const CLI::App& app, const std::vector<std::string>& arguments) {
  const auto known = options_of(app);
  for (const auto& argument : arguments) {
    const auto name = argument.substr(0, argument.find('='));
    if (name.starts_with("--") && std::find(known.begin(), known.end(), name) == known.end())
      if (auto close = nearest(name, known); !close.empty())
        return fmt::format("Did you mean {}? ", close);
  }
  return {};
}

/// A hint if the arguments are `worker --python`, an option that only the command of the Python
/// package has; else empty.
std::string of_the_package(const std::vector<std::string>& arguments) {
  const bool python =
    arguments.front() == "worker" && std::ranges::find(arguments, "--python") != arguments.end();
  return python ? "--python is of the Python package's command: python -m headrace worker "
                  "--python. "
                : "";
}

/// A hint to write `--` before the command of `headrace run`, if that is missing and options follow
/// the command; else empty.
std::string missing_dashes(const CLI::App& run, const std::vector<std::string>& arguments) {
  const auto command = run.get_option("command")->results();
  if (command.empty() || std::ranges::find(arguments, "--") != arguments.end())
    return {};
  const auto begin = std::ranges::find(arguments, command.front());
  const bool options =
    std::any_of(begin, arguments.end(), [](const auto& x) { return x.starts_with('-'); });
  return options ? fmt::format("The command to run stands after --: headrace run [OPTIONS] -- {}",
                               fmt::join(begin, arguments.end(), " "))
                 : "";
}

/// The command that these arguments name, and its full name, such as `config worker`.
std::pair<const CLI::App*, std::string> command_of(const CLI::App& app,
                                                   const std::vector<std::string>& arguments) {
  const CLI::App* out = &app;
  std::string name;
  for (const auto& word : arguments) {
    const auto there =
      out->get_subcommands([&](const CLI::App* x) { return x->get_name() == word; });
    if (there.empty())
      break;
    out = there.front();
    name += (name.empty() ? "" : " ") + word;
  }
  return {out, name};
}

int run(int argc, char** argv) {
  CLI::App app{"headrace: input pipelines for training, on as many hosts as the trainers need",
               "headrace"};
  // `--help` is defined as the flag that prints the options of all subcommands, too. The commands
  // inherit this, so that `--help` of a command also prints the options of its subcommands.
  app.set_help_flag();
  app.set_help_all_flag("-h,--help", "Print this, and nothing else happens");
  app.set_version_flag("-V,--version", "headrace " HEADRACE_VERSION,
                       "Print the version, as the command does");
  app.get_formatter()->column_width(34);
  app.require_subcommand(1);
  app.footer(exit_codes());
  action chosen;
  add_dispatcher(app, chosen);
  add_worker(app, chosen);
  add_up(app, chosen);
  add_run(app, chosen);
  add_status(app, chosen);
  add_top(app, chosen);
  add_report(app, chosen);
  add_drain(app, chosen);
  add_config(app, chosen);
  add_certificates(app, chosen);
  add_explain(app, chosen);
  add_version(app, chosen);

  const auto names = names_of(app);
  const std::vector<std::string> arguments(argv + 1, argv + argc);
  const auto there_is =
    fmt::format("There is: {}. `headrace --help` describes them.", fmt::join(names, ", "));
  if (arguments.empty())
    return usage_error("a command is missing", there_is);
  if (const auto& word = arguments.front();
      !word.starts_with('-') && std::find(names.begin(), names.end(), word) == names.end()) {
    const auto close = nearest(word, names);
    return usage_error(fmt::format("there is no command '{}'", word),
                       close.empty() ? there_is
                                     : fmt::format("Did you mean {}? {}", close, there_is));
  }
  constexpr std::array alone{"-h", "--help", "-V", "--version"};
  if (arguments.front().starts_with('-')
      && std::find(alone.begin(), alone.end(), arguments.front()) == alone.end())
    return usage_error(fmt::format("a command comes before '{}'", arguments.front()), there_is);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0)
      return app.exit(e);
    const auto [sub, name] = command_of(app, arguments);
    // A command that only has subcommands (`config`) accepts no other word, so a word that is
    // similar to a subcommand is taken for a misspelling.
    for (const auto& word : arguments)
      if (auto close = nearest(word, names_of(*sub)); !word.starts_with('-') && !close.empty())
        return usage_error(fmt::format("{}: there is no '{}'", name, word),
                           fmt::format("Did you mean {} {}?", name, close));
    if (name == "run")
      if (const auto hint = missing_dashes(*sub, arguments); !hint.empty())
        return usage_error("run: options after the command", hint);
    return usage_error(fmt::format("{}: {}", name, e.what()),
                       meant_option(*sub, arguments) + of_the_package(arguments)
                         + fmt::format("`headrace {} --help` lists all options.", name));
  }
  // Without `--`, options of the command would be read as options of `headrace run`.
  if (arguments.front() == "run")
    if (const auto hint = missing_dashes(*app.get_subcommand("run"), arguments); !hint.empty())
      return usage_error("run: options after the command", hint);
  const int code = chosen();
  // Commands that run servers skip the check of standard output below: they print nothing at their
  // end, and the program that read their first line may have ended.
  constexpr std::array servers{"dispatcher", "worker", "up", "run"};
  if (std::ranges::find(servers, arguments.front()) != servers.end())
    return code;
  // Standard output may not have been written, for example because the disk is full.
  errno = 0;
  if (code == 0 && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    std::fprintf(stderr, "headrace: cannot write to standard output%s%s\n", errno != 0 ? ": " : "",
                 errno != 0 ? std::strerror(errno) : "");
    return static_cast<int>(exit_code::failure);
  }
  return code;
}

/// If HEADRACE_PARENT contains the id of the parent process, this process is killed when its parent
/// ends (strictly: when the thread of the parent ends that started this process).
void end_with_parent() {
  const auto* text = std::getenv("HEADRACE_PARENT");
  if (text == nullptr || *text == '\0')
    return;
  const auto parent = std::strtol(text, nullptr, 10);
  ::unsetenv("HEADRACE_PARENT"); // the variable is not for the children of this process
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) // the parent has ended before the call
    ::_exit(static_cast<int>(exit_code::failure));
}

} // namespace
} // namespace headrace::detail::command

int main(int argc, char** argv) {
  headrace::detail::command::end_with_parent();
  try {
    return headrace::detail::command::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "headrace: %s\n", e.what());
    return static_cast<int>(headrace::detail::exit_code::internal);
  }
}
