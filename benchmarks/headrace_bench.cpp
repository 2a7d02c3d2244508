/// Measures the service between separate processes over loopback, and the engine in this process.
/// Each case has a limit: a simpler program that does only the indispensable work, such as a bare
/// socket. Measurements of a case and of its limit alternate on the same machine, because rates
/// change from run to run, but their ratio hardly does.

#include "benchmarks/cases.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <string>
#include <unistd.h>
#include <vector>

namespace headrace::detail::bench {

namespace {

struct options {
  std::string headrace = HEADRACE_COMMAND;
  std::string json;
  size_t runs = 9;
  std::vector<std::string> only;
};

std::vector<bench_case> all_cases(services& with) {
  std::vector<bench_case> out;
  add_stream_cases(out, with);
  add_compute_cases(out, with);
  add_data_cases(out);
  add_service_cases(out, with);
  add_durable_cases(out, with);
  add_sharing_cases(out, with);
  add_overload_cases(out, with);
  add_counting_cases(out);
  add_kernel_calls(out);
  return out;
}

/// True if `x` selects the case `name`: `x` is the whole name or consists of its first words. First
/// words select all cases whose names begin with them.
bool is_called(const std::string& name, const std::string& x) {
  return name == x || name.starts_with(x + "_");
}

/// True for a case of benchmarks/python_rows.py, which continues the table of this program.
bool is_of_python(const std::string& x) { return is_called(x, "python"); }

/// Keeps the requested cases. A name that matches no case is an error.
void select(std::vector<bench_case>& from, const std::vector<std::string>& only) {
  for (const auto& x : only)
    if (!is_of_python(x) && std::none_of(from.begin(), from.end(), [&](const bench_case& c) {
          return is_called(c.name, x);
        })) {
      std::string names;
      for (const auto& c : from)
        if (!c.name.starts_with("kernel_calls_"))
          names += c.name + ", ";
      throw error{invalid_argument("there is no case " + x + "; there are " + names
                                   + "kernel_calls, python")};
    }
  if (!only.empty())
    std::erase_if(from, [&](const bench_case& c) {
      return std::none_of(only.begin(), only.end(),
                          [&](const std::string& x) { return is_called(c.name, x); });
    });
}

void run(const options& about) {
  std::FILE* json = about.json.empty() ? nullptr : std::fopen(about.json.c_str(), "w");
  if (!about.json.empty() && json == nullptr)
    throw error{invalid_argument("cannot write " + about.json)};
  services with{about.headrace};
  auto cases = all_cases(with);
  select(cases, about.only);
  const bool terminal = ::isatty(STDERR_FILENO) == 1;
  print_header();
  for (size_t i = 0; i < cases.size(); ++i) {
    const auto& what = cases[i];
    const auto runs = what.runs == 0 ? about.runs : what.runs;
    std::function<void(size_t)> progress;
    if (terminal)
      progress = [&](size_t done) {
        std::fprintf(stderr, "\r\033[K[%zu of %zu] %s, %zu of %zu", i + 1, cases.size(),
                     what.name.c_str(), done, runs);
      };
    const auto taken = measure(what, runs, progress);
    if (terminal)
      std::fputs("\r\033[K", stderr);
    print(taken);
    if (json)
      print_json(json, taken);
  }
  if (json)
    std::fclose(json);
}

} // namespace

} // namespace headrace::detail::bench

int main(int argc, char** argv) {
  headrace::detail::bench::options about;
  CLI::App app{"Measures headrace, each case beside a limit of this machine taken in turn."};
  app.add_option("--json", about.json, "also write one JSON object a line to this file")
    ->type_name("FILE");
  app.add_option("--runs", about.runs, "pairs of case and limit; medians are shown")
    ->check(CLI::PositiveNumber)
    ->capture_default_str();
  app.add_option("--only,CASE", about.only, "measure these alone; a group by its first words")
    ->type_name("CASE");
  app.add_option("--headrace", about.headrace, "the program that the servers are started from")
    ->check(CLI::ExistingFile);
  CLI11_PARSE(app, argc, argv);
  try {
    headrace::detail::bench::run(about);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s\n", why.what());
    return 1;
  }
}
