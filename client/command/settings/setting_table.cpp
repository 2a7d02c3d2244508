#include "headrace/client/command/settings/setting_table.hpp"

#include <algorithm>

namespace headrace::detail::command {
namespace {

using s = server_settings;
constexpr auto dispatcher = server_kind::dispatcher, worker = server_kind::worker,
               up = server_kind::up;

// -- functions that return the places of values ----------------------------------------------

template <class T>
place<T> in(T server_settings::*what) {
  return [what](s& x) -> T& { return x.*what; };
}
template <class T>
place<T> of_endpoint(T endpoint_options::*what) {
  return [what](s& x) -> T& { return x.endpoint.*what; };
}
place<std::string> of_tls(std::string tls_options::*what) {
  return [what](s& x) -> std::string& { return x.endpoint.tls.*what; };
}
template <class T>
place<T> of_jobs(T job_terms::*what) {
  return [what](s& x) -> T& { return x.jobs.*what; };
}
template <class T>
place<T> of_process(T process_flags::*what) {
  return [what](s& x) -> T& { return x.process.*what; };
}
template <class T>
place<T> of_log(T log_options::*what) {
  return [what](s& x) -> T& { return x.process.log.*what; };
}

// -- the rows ---------------------------------------------------------------------------------

void add_places(std::vector<setting>& out) {
  out.push_back({.name = "workers",
                 .of = {up},
                 .value = workers_value(in(&s::workers), 1024),
                 .help = "How many workers; of a range, as many as the trainers need",
                 .cpp = "workers"});
  out.push_back({.name = "dispatcher",
                 .of = {worker},
                 .value = dispatcher_value(in(&s::dispatcher)),
                 .help = "Address of the dispatcher; or tf-config:[JOB], slurm:[PORT] or "
                         "kubernetes:SELECTOR[:PORT], which find it",
                 .cpp = "dispatcher",
                 .python = "dispatcher_address",
                 .variable_as = "HEADRACE_SERVICE"});
  out.push_back({.name = "host",
                 .of = {dispatcher, worker, up},
                 .value = text_value("HOST", of_endpoint(&endpoint_options::host)),
                 .help = "Address to bind; off loopback it needs TLS, or --insecure",
                 .cpp = "endpoint.host",
                 .python = "host"});
  out.push_back({.name = "advertise",
                 .of = {dispatcher, worker, up},
                 .value = text_value("HOST", of_endpoint(&endpoint_options::advertise_host)),
                 .help = "Host that others are told to connect to",
                 .cpp = "endpoint.advertise_host",
                 .python = "advertise_host, worker_address",
                 .not_set = "that of --host"});
  out.push_back({.name = "port",
                 .of = {dispatcher, up},
                 .value = port_value(of_endpoint(&endpoint_options::port)),
                 .help = "Port for workers and trainers; 0: any free one",
                 .cpp = "endpoint.port",
                 .python = "port"});
  out.push_back({.name = "http-port",
                 .of = {dispatcher, up},
                 .value = web_port_value(in(&s::http_port)),
                 .help = "Port of the status page, /metrics, /live and /ready, at --host and with "
                         "its TLS; auto: 5051, or any free one; off: none",
                 .python = "http_port"});
  out.push_back({.name = "http-port",
                 .of = {worker},
                 .value = web_port_value(in(&s::http_port)),
                 .help = "Port of /metrics, /live and /ready, at --host and with its TLS; auto: "
                         "5051, or any free one; off: none"});
  out.push_back({.name = "data-port",
                 .of = {worker},
                 .value = port_value(of_endpoint(&endpoint_options::data_port)),
                 .help = "Port from which trainers read elements; 0: any free one",
                 .cpp = "endpoint.data_port",
                 .python = "port, data_transfer_port"});
  out.push_back({.name = "advertise-data",
                 .of = {worker},
                 .value = address_or_none_value(of_endpoint(&endpoint_options::advertise_data)),
                 .help = "Where trainers are told to read: behind address translation, or a relay",
                 .cpp = "endpoint.advertise_data",
                 .python = "worker_address, data_transfer_address",
                 .not_set = "the advertised host and --data-port"});
  out.push_back({.name = "tag",
                 .of = {worker},
                 .value = list_value("TAG", in(&s::tags)),
                 .help = "A label that the status shows; may be given more than once",
                 .cpp = "tags",
                 .python = "worker_tags",
                 .not_set = "none"});
}

void add_times(std::vector<setting>& out) {
  out.push_back({.name = "heartbeat",
                 .of = {dispatcher, up},
                 .value = time_value(in(&s::heartbeat)),
                 .help = "How often workers and trainers show that they live",
                 .cpp = "heartbeat",
                 .python = "heartbeat_interval_ms"});
  out.push_back({.name = "heartbeat",
                 .of = {worker},
                 .value = optional_time_value(in(&s::own_heartbeat)),
                 .help = "How often the worker shows that it lives, at most half of --lease",
                 .cpp = "heartbeat",
                 .python = "heartbeat_interval_ms",
                 .not_set = "as the dispatcher asks for"});
  out.push_back({.name = "lease",
                 .of = {dispatcher, up},
                 .value = time_value(in(&s::lease)),
                 .help = "How long one that is silent still counts as alive",
                 .cpp = "lease",
                 .python = "worker_timeout_ms"});
  out.push_back({.name = "lease",
                 .of = {worker},
                 .value = time_value(in(&s::lease)),
                 .help = "The dispatcher's --lease: a trainer's connection that is silent for so "
                         "long is given up",
                 .cpp = "lease"});
  out.push_back({.name = "dispatcher-timeout",
                 .of = {worker},
                 .value = time_or_never_value(in(&s::dispatcher_timeout), duration{1}),
                 .help = "How long the dispatcher may not answer before the worker ends; or never",
                 .cpp = "dispatcher_timeout",
                 .python = "dispatcher_timeout_ms"});
  out.push_back(
    {.name = "client-timeout",
     .of = {dispatcher, up},
     .value = time_value(of_jobs(&job_terms::client_timeout)),
     .help = "How long a silent trainer keeps its place, while nobody waits for what it holds",
     .cpp = "jobs.client_timeout",
     .python = "client_timeout_ms"});
  out.push_back(
    {.name = "job-gc-timeout",
     .of = {dispatcher, up},
     .value = time_or_never_value(of_jobs(&job_terms::gc_timeout), duration::zero()),
     .help = "When a job that is not finished and that nobody reads is collected; or never",
     .cpp = "jobs.gc_timeout",
     .python = "job_gc_timeout_ms"});
  out.push_back({.name = "job-gc-check-interval",
                 .of = {dispatcher, up},
                 .value = time_value(of_jobs(&job_terms::gc_check_interval)),
                 .help = "How often it is looked for such jobs",
                 .cpp = "jobs.gc_check_interval",
                 .python = "job_gc_check_interval_ms"});
  out.push_back(
    {.name = "gc-dynamic-sharding-jobs",
     .of = {dispatcher, up},
     .value = flag_value(of_jobs(&job_terms::gc_dynamic_sharding_jobs)),
     .help = "Collect jobs under dynamic sharding, too: who comes back to one reads all again",
     .cpp = "jobs.gc_dynamic_sharding_jobs",
     .python = "gc_dynamic_sharding_jobs"});
}

void add_service(std::vector<setting>& out) {
  out.push_back({.name = "work-dir",
                 .of = {dispatcher, up},
                 .value = name_value("DIR", in(&s::work_dir), "directory"),
                 .help = "Directory in which datasets and jobs are kept, so that they outlive the "
                         "process",
                 .cpp = "work_dir",
                 .python = "work_dir, fault_tolerant_mode",
                 .not_set = "they are lost with it"});
  out.push_back(
    {.name = "worker-addresses",
     .of = {dispatcher, up},
     .value = roster_value(in(&s::worker_addresses)),
     .help = "The workers that may come, with commas between, in the order of their parts of a "
             "dataset under the processing modes file, data, file_or_data and hint, which need "
             "this list: HOST, for one at any data port, or HOST:PORT",
     .cpp = "worker_addresses",
     .python = "worker_addresses",
     .not_set = "any may come",
     .by_commas = true});
  out.push_back({.name = "deployment-mode",
                 .of = {dispatcher, up},
                 .value = deployment_value(in(&s::deployment)),
                 .help = "Where workers run: remote, colocated (in trainers' processes, so that "
                         "under the processing modes file, data, file_or_data and hint a trainer "
                         "reads from its own) or hybrid",
                 .cpp = "deployment",
                 .python = "deployment_mode"});
  out.push_back({.name = "cross-trainer-cache-size",
                 .of = {worker, up},
                 .value = bytes_value(in(&s::cross_trainer_cache_size)),
                 .help = "Memory (such as 512M or 2G) that a worker may keep elements in for "
                         "trainers that share a job's cache; 0: a quarter of what the process may "
                         "have",
                 .cpp = "cross_trainer_cache_size",
                 .python = "cross_trainer_cache_size_bytes"});
  out.push_back(
    {.name = "worker-max-concurrent-saves",
     .of = {dispatcher, up},
     .value = number_value(in(&s::worker_max_concurrent_saves), 1, 1024),
     .help = "In how many datasets that the service saves a worker takes part at a time",
     .cpp = "worker_max_concurrent_saves",
     .python = "worker_max_concurrent_snapshots"});
  out.push_back({.name = "save-max-file-size",
                 .of = {worker, up},
                 .value = bytes_value(in(&s::save_max_file_size)),
                 .help = "Size (such as 512M or 2G) at which a file of a dataset that the service "
                         "saves is followed by another one; 0: 6G",
                 .cpp = "save_max_file_size",
                 .python = "snapshot_max_chunk_size_bytes"});
  out.push_back({.name = "plugin",
                 .of = {worker, up},
                 .value = list_value("FILE", in(&s::plugins)),
                 .help = "Shared library with C++ functions that pipelines call by name; may be "
                         "given more than once",
                 .cpp = "find_function",
                 .not_set = "none"});
}

void add_security(std::vector<setting>& out) {
  const auto add = [&](const char* name, std::string tls_options::*file, const char* cpp,
                       const char* python, const char* help) {
    out.push_back({.name = name,
                   .of = {dispatcher, worker, up},
                   .value = text_value("FILE", of_tls(file)),
                   .help = help,
                   .cpp = cpp,
                   .python = python,
                   .group = "Security",
                   .not_set = "no TLS"});
  };
  add("tls-cert", &tls_options::certificate, "endpoint.tls.certificate", "tls_cert",
      "Certificate (PEM); the three TLS files are given together or not at all");
  add("tls-key", &tls_options::key, "endpoint.tls.key", "tls_key",
      "Its private key (PEM, not encrypted)");
  add("tls-ca", &tls_options::ca_file, "endpoint.tls.ca_file", "tls_ca",
      "Authorities whose certificates are accepted (PEM); both sides must present one");
  out.push_back(
    {.name = "insecure",
     .of = {dispatcher, worker, up},
     .value = flag_value(of_endpoint(&endpoint_options::insecure)),
     .help =
       "Listen off loopback without TLS: anybody who reaches the ports can use them and read along",
     .cpp = "endpoint.insecure",
     .python = "insecure",
     .group = "Security"});
}

void add_process(std::vector<setting>& out) {
  const std::vector<server_kind> all{dispatcher, worker, up};
  out.push_back({.name = "drain",
                 .of = {worker},
                 .value = time_value(in(&s::drain)),
                 .help = "How long it may take, after SIGTERM, to give trainers what it has begun "
                         "for them",
                 .cpp = "drain",
                 .python = "shutdown_quiet_period_ms",
                 .group = "Process"});
  out.push_back({.name = "isolate",
                 .of = {up},
                 .value = flag_value(in(&s::isolate)),
                 .help = "A process for the dispatcher and for each worker, so that one that "
                         "crashes takes no other with it; each is started again, and past five "
                         "times a minute all end",
                 .group = "Process"});
  out.push_back({.name = "max-stuck-threads",
                 .of = {worker, up},
                 .value = count_value(in(&s::most_stuck_threads)),
                 .help = "Threads hanging in foreign code (a file system that does not answer) at "
                         "which the process ends with its own exit code and is started again; with "
                         "one fewer it takes no new tasks; 0: never",
                 .cpp = "most_stuck_threads",
                 .group = "Process"});
  out.push_back({.name = "memory-limit",
                 .of = all,
                 .value = bytes_value(of_process(&process_flags::memory_limit)),
                 .help = "Private memory (such as 512M or 2G) past which the process ends with its "
                         "own exit code and is started again; 0: none",
                 .group = "Process"});
  out.push_back({.name = "no-restart",
                 .of = all,
                 .value = flag_value(of_process(&process_flags::no_restart)),
                 .help = "End with the process instead of starting it again after a crash or at "
                         "its memory limit; for supervisors that do this themselves",
                 .group = "Process"});
  out.push_back({.name = "port-file",
                 .of = all,
                 .value = text_value("FILE", of_process(&process_flags::port_file)),
                 .help = "Where to write the port once it listens, for scripts that asked for "
                         "port 0",
                 .group = "Process",
                 .not_set = "nowhere"});
  out.push_back({.name = "log-level",
                 .of = all,
                 .value = log_level_value(of_log(&log_options::level)),
                 .help = "trace, debug, info, warn, error or off",
                 .cpp = "log",
                 .group = "Log"});
  out.push_back({.name = "log-format",
                 .of = all,
                 .value = log_format_value(of_log(&log_options::format)),
                 .help = "text or json (one object a line)",
                 .cpp = "log",
                 .group = "Log"});
  out.push_back({.name = "log-file",
                 .of = all,
                 .value = text_value("FILE", of_log(&log_options::file)),
                 .help = "Where to append the log",
                 .cpp = "log",
                 .group = "Log",
                 .not_set = "standard error"});
}

} // namespace

bool setting::is_of(server_kind kind) const noexcept {
  return std::find(of.begin(), of.end(), kind) != of.end();
}

std::string setting::key() const {
  auto out = name;
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

std::string setting::variable() const {
  if (!variable_as.empty())
    return variable_as;
  std::string out = "HEADRACE_";
  for (const char c : key()) out += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

const std::vector<setting>& all_settings() {
  static const auto table = [] {
    std::vector<setting> out;
    add_places(out);
    add_times(out);
    add_service(out);
    add_security(out);
    add_process(out);
    return out;
  }();
  return table;
}

std::vector<const setting*> settings_of(server_kind kind) {
  std::vector<const setting*> out;
  for (const auto& one : all_settings())
    if (one.is_of(kind))
      out.push_back(&one);
  return out;
}

} // namespace headrace::detail::command
