#include "headrace/client/explain.hpp"
#include "headrace/client/command/settings/option_values.hpp"
#include "headrace/client/command/settings/server_flags.hpp"
#include "headrace/client/command/subcommands.hpp"
#include "headrace/client/internal/service_node.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/node/node.hpp"
#include "headrace/runtime/process/exit_code.hpp"

#include <cstdio>
#include <filesystem>

namespace headrace::detail::command {
namespace {

struct flags {
  std::string what;
  std::string dispatcher;
  tls_options tls;
  std::vector<std::string> plugins;
  duration time = std::chrono::seconds{2};
  uint64_t elements = 0;
};

result<dataset> dataset_of(const flags& given) {
  if (given.dispatcher.empty())
    return read_dataset(given.what);
  // Requests use the node of the process. This first call creates that node with the TLS files.
  HEADRACE_TRY(node::process(service_node(node_role::tool, given.tls)).status());
  return registered_dataset(given.dispatcher, given.what);
}

int run(const flags& given) {
  const auto fail = [](const status& why) {
    std::fprintf(stderr, "headrace explain: %s\n", why.message().c_str());
    return static_cast<int>(exit_code_of(why));
  };
  try {
    auto what = dataset_of(given);
    if (!what)
      return fail(what.status());
    explain_options options{.most_time = given.time};
    if (given.elements != 0)
      options.most_rows = given.elements;
    const auto seen = explain(*what, options, {.find_function = functions_of(given.plugins)});
    std::fputs(to_text(seen).c_str(), stdout);
    return static_cast<int>(exit_code::ok);
  } catch (const error& e) {
    return fail(e.why());
  }
}

} // namespace

void add_explain(CLI::App& app, action& chosen) {
  auto given = std::make_shared<flags>();
  auto& sub = *app.add_subcommand(
    "explain", "Run a pipeline here for a short time and show what each operator did, with the one "
               "that bounds the rate");
  sub
    .add_option("PIPELINE", given->what,
                "A file that a program wrote with write_dataset; with --dispatcher the id of a "
                "dataset that is registered there")
    ->required();
  sub.add_option("--dispatcher", given->dispatcher, "Where the dataset is registered")
    ->type_name("HOST:PORT");
  add_duration(sub, "--time", given->time, "How long to run it");
  sub.add_option("--elements", given->elements, "How many elements to read at most; 0: any")
    ->type_name("N")
    ->capture_default_str();
  add_plugin_flag(sub, given->plugins);
  add_tls_flags(sub, given->tls);
  sub.callback([given, &chosen] {
    if (!given->dispatcher.empty())
      if (auto where = parse_address(given->dispatcher); !where)
        throw CLI::ValidationError{"--dispatcher: " + where.status().message()};
    chosen = [given] { return run(*given); };
  });
}

} // namespace headrace::detail::command
