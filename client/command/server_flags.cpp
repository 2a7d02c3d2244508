#include "headrace/client/command/server_flags.hpp"

#include "headrace/client/command/option_values.hpp"
#include "headrace/client/command/past_variable.hpp"
#include "headrace/client/command/port_file.hpp"
#include "headrace/pipeline/custom/function_registry.hpp"
#include "headrace/runtime/process/exit_code.hpp"
#include "headrace/runtime/process/memory_limit.hpp"
#include "headrace/runtime/process/stop_signal.hpp"

#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

namespace headrace::command {
namespace {

/// What a process that has no parent here knows of earlier lives.
class only_life final : public process_lives {
public:
  process_past past() const override { return past_of_this_process(); }
  uint16_t port(size_t, uint16_t fallback) const noexcept override { return fallback; }
  void keep_port(size_t, uint16_t) noexcept override {}
};

int fail(const std::string& name, const status& why) {
  std::fprintf(stderr, "headrace %s: %s\n", name.c_str(), why.message().c_str());
  return static_cast<int>(exit_code_of(why));
}

int live(const std::string& name, const process_flags& flags, process_lives& lives,
         const std::function<running(const process_lives&, const logger&)>& start) {
  stop_signal stop{{.budget = flags.stop_budget}};
  if (flags.memory_limit != 0)
    if (auto how = set_memory_limit(flags.memory_limit); !how)
      return fail(name, how.with_context("--memory-limit"));
  auto log = logger::open(flags.log);
  if (!log)
    return fail(name, log.status());
  try {
    auto up = start(lives, *log);
    for (size_t slot = 0; slot < up.ports.size(); ++slot) lives.keep_port(slot, up.ports[slot]);
    if (!flags.port_file.empty())
      if (auto how = write_port_file(flags.port_file, up.ports.at(0)); !how)
        return fail(name, how.with_context("--port-file"));
    std::printf("%s listening on %s\n", (up.role.empty() ? name : up.role).c_str(),
                up.address.c_str());
    std::fflush(stdout);
    const auto signal = stop.wait();
    log->info("stopping", {{"signal", signal}});
    up.server.reset();
  } catch (const error& e) {
    return fail(name, e.why());
  }
  return static_cast<int>(exit_code::ok);
}

} // namespace

void add_process_flags(CLI::App& app, process_flags& into) {
  const auto read_limit = [&into](const std::string& text) {
    auto bytes = parse_bytes(text);
    if (!bytes)
      throw CLI::ValidationError{"--memory-limit", bytes.status().message()};
    into.memory_limit = *bytes;
  };
  const auto read_level = [&into](const std::string& text) {
    auto level = parse_log_level(text);
    if (!level)
      throw CLI::ValidationError{"--log-level", level.status().message()};
    into.log.level = *level;
  };
  const auto read_format = [&into](const std::string& text) {
    auto format = parse_log_format(text);
    if (!format)
      throw CLI::ValidationError{"--log-format", format.status().message()};
    into.log.format = *format;
  };
  app
    .add_option_function<std::string>(
      "--memory-limit", read_limit,
      "Private memory (such as 512M or 2G) past which the process ends with its own "
      "exit code and is started again; 0: none")
    ->type_name("BYTES")
    ->default_str("0")
    ->group("Process");
  app
    .add_flag_callback(
      "--no-restart", [&into] { into.restart = false; },
      "End with the process instead of starting it again after a crash or at its memory limit; for "
      "supervisors that do this themselves")
    ->group("Process");
  app
    .add_option("--port-file", into.port_file,
                "Where to write the port once it listens, for scripts that asked for port 0")
    ->type_name("FILE")
    ->group("Process");
  app
    .add_option_function<std::string>("--log-level", read_level,
                                      "trace, debug, info, warn, error or off")
    ->type_name("LEVEL")
    ->default_str(std::string{to_string(into.log.level)})
    ->group("Log");
  app
    .add_option_function<std::string>("--log-format", read_format,
                                      "text or json (one object a line)")
    ->type_name("FORMAT")
    ->default_str(std::string{to_string(into.log.format)})
    ->group("Log");
  app.add_option("--log-file", into.log.file, "Where to append the log; default: standard error")
    ->type_name("FILE")
    ->group("Log");
}

void add_endpoint_flags(CLI::App& app, endpoint_options& into) {
  app.add_option("--host", into.host, "Address to bind; off loopback it needs TLS, or --insecure")
    ->type_name("HOST")
    ->capture_default_str();
  app
    .add_option("--advertise", into.advertise_host,
                "Host that others are told to connect to; default: --host")
    ->type_name("HOST");
  add_tls_flags(app, into.tls);
  app
    .add_flag(
      "--insecure", into.insecure,
      "Listen off loopback without TLS: anybody who reaches the ports can use them and read along")
    ->group("Security");
}

void add_tls_flags(CLI::App& app, tls_options& into) {
  const auto add = [&](const char* name, std::string& file, const char* help) {
    app.add_option(name, file, help)->type_name("FILE")->group("Security");
  };
  add("--tls-cert", into.certificate,
      "Certificate (PEM); the three TLS files are given together or not at all");
  add("--tls-key", into.key, "Its private key (PEM, not encrypted)");
  add("--tls-ca", into.ca_file,
      "Authorities whose certificates are accepted (PEM); both sides must present one");
}

void add_timing_flags(CLI::App& app, duration& heartbeat, duration& lease) {
  add_duration(app, "--heartbeat", heartbeat, "How often workers and trainers show that they live");
  add_duration(app, "--lease", lease, "How long one that is silent still counts as alive");
}

void add_job_flags(CLI::App& app, job_terms& into) {
  add_duration(app, "--client-timeout", into.client_timeout,
               "How long a silent trainer keeps its place, while nobody waits for what it holds");
  const auto read_timeout = [&into](const std::string& text) {
    if (text == "never") {
      into.gc_timeout.reset();
      return;
    }
    const auto parsed = parse_duration(text);
    if (!parsed)
      throw CLI::ValidationError{"--job-gc-timeout", parsed.status().message() + ", or never"};
    into.gc_timeout = *parsed;
  };
  app
    .add_option_function<std::string>(
      "--job-gc-timeout", read_timeout,
      "When a job that is not finished and that nobody reads is collected; or never")
    ->type_name("TIME")
    ->default_str(into.gc_timeout ? duration_text(*into.gc_timeout) : "never");
  add_duration(app, "--job-gc-check-interval", into.gc_check_interval,
               "How often it is looked for such jobs");
  app.add_flag("--gc-dynamic-sharding-jobs", into.gc_dynamic_sharding_jobs,
               "Collect jobs under dynamic sharding, too: who comes back to one reads all again");
}

void check_timing(duration heartbeat, duration lease, const job_terms& jobs) {
  const auto check = [&](const char* name, duration limit, const char* who) {
    if (limit < 2 * heartbeat)
      throw CLI::ValidationError{std::string{name} + " must be at least twice --heartbeat: "
                                 + duration_text(limit) + " and " + duration_text(heartbeat)
                                 + " would let " + who + " die of one late message"};
  };
  check("--lease", lease, "workers");
  check("--client-timeout", jobs.client_timeout, "trainers");
}

void add_work_dir_flag(CLI::App& app, std::string& into) {
  app
    .add_option("--work-dir", into,
                "Directory in which datasets and jobs are kept, so that they outlive the process; "
                "default: they are lost with it")
    ->type_name("DIR")
    ->check([](const std::string& given) {
      return given.empty() ? "names no directory" : std::string{};
    });
}

void add_worker_addresses_flag(CLI::App& app, std::vector<std::string>& into) {
  app
    .add_option("--worker-addresses", into,
                "The workers that may come, with commas between, in the order of their parts of a "
                "dataset under the processing modes file, data, file_or_data and hint, which need "
                "this list: HOST, for one at any data port, or HOST:PORT; default: any may come")
    ->type_name("HOST[:PORT],...")
    ->delimiter(',')
    ->allow_extra_args(false);
}

void add_stuck_flag(CLI::App& app, size_t& into) {
  into = 8;
  app
    .add_option(
      "--max-stuck-threads", into,
      "Threads hanging in foreign code (a file system that does not answer) at which the "
      "process ends with its own exit code and is started again; with one fewer it takes no "
      "new tasks; 0: never")
    ->type_name("N")
    ->capture_default_str()
    ->group("Process");
}

void add_plugin_flag(CLI::App& app, std::vector<std::string>& into) {
  app
    .add_option("--plugin", into,
                "Shared library with C++ functions that pipelines call by name; may be given more "
                "than once")
    ->type_name("FILE")
    ->allow_extra_args(false);
}

std::function<named_function(const std::string&)>
functions_of(const std::vector<std::string>& plugins) {
  auto functions = std::make_shared<function_registry>();
  for (const auto& file : plugins)
    if (auto failed = functions->load_plugin(file); !failed.ok())
      throw error{failed.with_context("--plugin")};
  return function_registry::finder(functions);
}

void end_process(const std::string& name, const status& why, exit_code code) {
  fail(name, why);
  std::fflush(nullptr);
  // At once: what hangs would make an orderly end wait.
  ::_exit(static_cast<int>(code));
}

std::function<void(const status&)> end_process_as(std::string name) {
  return [name = std::move(name)](const status& why) {
    end_process(name, why,
                why.code() == status_code::resource_exhausted  ? exit_code::stuck_thread
                : why.code() == status_code::permission_denied ? exit_code::failure
                                                               : exit_code::internal);
  };
}

int serve(const std::string& name, const process_flags& flags,
          const std::function<running(const process_lives&, const logger&)>& start) {
  only_life one;
  if (!flags.restart)
    return live(name, flags, one, start);
  return run_under_parent({.stop_budget = flags.stop_budget + std::chrono::seconds{1}},
                          [&](process_lives& lives) { return live(name, flags, lives, start); });
}

} // namespace headrace::command
