#include "headrace/client/command/clusters/cluster_address.hpp"
#include "headrace/client/command/clusters/kubernetes_pods.hpp"
#include "headrace/runtime/base/address.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <thread>

namespace headrace::detail::command {
namespace {

constexpr std::string_view tf_config = "tf-config:";
constexpr std::string_view slurm = "slurm:";
constexpr std::string_view kubernetes = "kubernetes:";
constexpr std::string_view usual_port = "5050";

result<uint16_t> port_of(std::string_view text, std::string_view of) {
  uint16_t port = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (code != std::errc{} || end != text.data() + text.size() || port == 0)
    return invalid_argument(
      fmt::format("{}: '{}' is no port, which is a number from 1 to 65535", of, text));
  return port;
}

std::string variable(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

result<std::string> by_tf_config(std::string_view job) {
  const std::string name{job.empty() ? "dispatcher" : job};
  const auto text = variable("TF_CONFIG");
  if (text.empty())
    return failed_precondition("the environment variable TF_CONFIG is not set");
  const auto config = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!config.is_object() || !config.contains("cluster") || !config["cluster"].is_object())
    return invalid_argument("TF_CONFIG must be JSON: {\"cluster\": {JOB: [\"host:port\", ...]}}");
  const auto& cluster = config["cluster"];
  if (!cluster.contains(name)) {
    std::string known;
    for (const auto& [key, tasks] : cluster.items()) known += (known.empty() ? "" : ", ") + key;
    return failed_precondition(
      fmt::format("TF_CONFIG: the cluster has no job '{}'; there is: {}", name, known));
  }
  const auto& tasks = cluster[name];
  if (!(tasks.is_array() || tasks.is_object()) || tasks.empty() || !tasks.begin()->is_string())
    return invalid_argument(
      fmt::format("TF_CONFIG: the job '{}' must be a list of one \"host:port\" or more", name));
  const auto where = tasks.begin()->get<std::string>();
  if (auto read = parse_address(where); !read)
    return read.status().with_context(fmt::format("TF_CONFIG: the job '{}'", name));
  return where;
}

/// The first host of a list in Slurm's form: `rack[03-05,9]-a,other`.
result<std::string> first_host(std::string_view list) {
  std::string out;
  while (!list.empty() && list.front() != ',') {
    if (list.front() != '[') {
      out += list.front();
      list.remove_prefix(1);
      continue;
    }
    const auto end = list.find(']');
    const auto first = list.substr(1, list.find_first_of(",-]") - 1);
    if (end == std::string_view::npos || first.empty())
      return invalid_argument("its brackets are wrong");
    out += first;
    list.remove_prefix(end + 1);
  }
  if (out.empty())
    return invalid_argument("its first host is empty");
  return out;
}

result<std::string> by_slurm(std::string_view port) {
  HEADRACE_ASSIGN(const auto at, port_of(port.empty() ? usual_port : port, "slurm:PORT"));
  for (const auto* name : {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}) {
    const auto list = variable(name);
    if (list.empty())
      continue;
    auto host = first_host(list);
    if (!host)
      return host.status().with_context(fmt::format("{} is '{}'", name, list));
    return host_and_port(*host, at);
  }
  return failed_precondition(
    "neither SLURM_STEP_NODELIST nor SLURM_JOB_NODELIST is set: this is no "
    "process of a Slurm job");
}

result<std::string> by_kubernetes(std::string_view rest) {
  const auto colon = rest.find(':');
  const auto selector = rest.substr(0, colon);
  if (selector.empty())
    return invalid_argument("a selector is missing: kubernetes:app=headrace-dispatcher");
  HEADRACE_ASSIGN(const auto port,
                  port_of(colon == std::string_view::npos ? usual_port : rest.substr(colon + 1),
                          "kubernetes:SELECTOR:PORT"));
  HEADRACE_ASSIGN(const auto host, running_pod(selector));
  return host_and_port(host, port);
}

} // namespace

bool is_cluster_address(std::string_view text) {
  return text.starts_with(tf_config) || text.starts_with(slurm) || text.starts_with(kubernetes);
}

result<std::string> resolve_cluster_address(std::string_view text) {
  auto found = text.starts_with(tf_config) ? by_tf_config(text.substr(tf_config.size()))
               : text.starts_with(slurm)   ? by_slurm(text.substr(slurm.size()))
                                           : by_kubernetes(text.substr(kubernetes.size()));
  if (!found)
    return found.status().with_context(std::string{text});
  return found;
}

result<std::string> await_cluster_address(std::string_view text, std::optional<duration> limit,
                                          const logger& log) {
  const auto begin = clock::system().now();
  for (std::string said;;) {
    auto found = resolve_cluster_address(text);
    if (found)
      log.info("found the dispatcher", {{"by", text}, {"dispatcher", *found}});
    if (found || found.status().code() != status_code::unavailable)
      return found;
    if (limit && clock::system().now() - begin >= *limit)
      return deadline_exceeded(
        fmt::format("{}; gave up after --dispatcher-timeout", found.status().message()));
    if (const auto& why = found.status().message(); why != said)
      log.warn("waiting for the dispatcher", {{"why", said = why}});
    std::this_thread::sleep_for(std::chrono::seconds{1});
  }
}

} // namespace headrace::detail::command
