#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/settings/server_settings.hpp"
#include "headrace/client/command/settings/setting_flags.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/client/monitor/page.hpp"
#include "headrace/client/monitor/status_json.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/log/line.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fstream>

namespace headrace::detail::command {
namespace {

struct flags {
  std::string job;
  std::string file = "headrace-report.html";
  std::string dispatcher = default_dispatcher;
  tls_options tls;
};

int fail(const std::string& why, exit_code code) {
  std::fprintf(stderr, "headrace report: %s\n", why.c_str());
  return static_cast<int>(code);
}

/// A job's name in printable form: any client may choose a name, and control characters in it must
/// not reach a terminal.
std::string printable(const std::string& name) {
  std::string out;
  append_text(out, name);
  return out;
}

/// Removes all jobs except those with that name or number. Not ok if none remains.
status choose(service_status& from, const std::string& job) {
  constexpr size_t most_named = 20;
  std::vector<std::string> known;
  for (const auto& x : from.jobs)
    known.push_back(x.name.empty() ? to_hex(x.job) : printable(x.name));
  if (const auto all = known.size(); all > most_named) {
    known.resize(most_named);
    known.push_back(fmt::format("{} more", all - most_named));
  }
  std::erase_if(from.jobs, [&](const auto& x) { return x.name != job && to_hex(x.job) != job; });
  return !from.jobs.empty()
           ? status{}
           : not_found(fmt::format("there is no job '{}'; {}", printable(job),
                                   known.empty()
                                     ? std::string{"there are no jobs"}
                                     : fmt::format("there are {}", fmt::join(known, ", "))));
}

int run(const flags& given) {
  auto here = node::process(service_node(node_role::tool, given.tls));
  if (!here)
    return fail(here.status().message(), exit_code_of(here.status()));
  auto now = get_service_status(given.dispatcher, std::chrono::seconds{5});
  if (!now)
    return fail(now.status().message(), exit_code_of_connect(now.status()));
  if (!given.job.empty())
    if (const auto how = choose(*now, given.job); !how)
      return fail(how.message(), exit_code::failure);
  std::ofstream out{given.file, std::ios::binary};
  out << monitor::report_page(monitor::status_json(*now));
  out.close();
  if (!out)
    return fail(fmt::format("cannot write '{}': {}", given.file, std::strerror(errno)),
                exit_code::failure);
  std::printf("wrote %s\n", given.file.c_str());
  return static_cast<int>(exit_code::ok);
}

} // namespace

void add_report(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "report", "Write the status page as it is now into one file, to keep or to send");
  sub
    .add_option("job", given->job,
                "Only this job: its name or its number, as `headrace status` shows them")
    ->type_name("JOB");
  sub.add_option("-o,--output", given->file, "The file")
    ->type_name("FILE")
    ->check(names_a_file)
    ->capture_default_str();
  add_service_flag(sub, given->dispatcher);
  add_tls_flags(sub, given->tls);
  sub.callback([given, &sub, &chosen] {
    settle_service(sub, given->dispatcher);
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::detail::command
