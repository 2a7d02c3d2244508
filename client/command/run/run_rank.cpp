#include "headrace/client/command/run/run_rank.hpp"

#include <charconv>
#include <cstdlib>
#include <fmt/format.h>

namespace headrace::detail::command {
namespace {

/// The environment variables in which a launcher sets the rank of a process and the number of
/// processes.
struct launcher {
  const char* name;
  const char* rank;
  const char* size;
  const char* local_rank; ///< null: there is one process on each node
  const char* local_size;
};

// For Slurm, the variables of a job step are read. The script of a job runs only once and not in a
// step, so it is not one of several processes of a run.
constexpr launcher launchers[]{
  {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"},
  {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
   "OMPI_COMM_WORLD_LOCAL_SIZE"},
  {"MPICH", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
  {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", nullptr},
  {"parallel-ssh", "PSSH_NODENUM", "PSSH_NUMNODES", nullptr, nullptr},
};

result<int> number(const std::string& name, const std::string& text, int low, int high) {
  int value = 0;
  const auto* end = text.data() + text.size();
  if (const auto [at, code] = std::from_chars(text.data(), end, value);
      code != std::errc{} || at != end || value < low || value > high)
    return invalid_argument(
      fmt::format("{} is '{}', which is not a number from {} to {}", name, text, low, high));
  return value;
}

/// The number of tasks on node `node`, a number from 0. `counts`: Slurm's list, such as `2(x3),1`,
/// which means two tasks on each of the first three nodes and one on the fourth.
int tasks_of_node(const std::string& counts, int node) {
  const auto* at = counts.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    const auto tasks = std::strtol(at, &end, 10);
    if (end == at)
      return 0;
    long times = 1;
    if (std::string_view{end}.starts_with("(x"))
      times = std::strtol(end + 2, &end, 10);
    node -= static_cast<int>(times);
    if (node < 0)
      return static_cast<int>(tasks);
    while (*end == ')' || *end == ',') ++end;
    at = end;
  }
  return 0;
}

std::string job_of(const launcher& by, const variable_reader& variable) {
  const std::string name{by.name};
  if (name == "torchrun")
    return "torchrun-" + variable("TORCHELASTIC_RUN_ID") + "-"
           + variable("TORCHELASTIC_RESTART_COUNT");
  if (name == "Slurm") {
    // In a heterogeneous job each component has a job id of its own, so the id of the whole job is
    // used.
    const auto whole = variable("SLURM_HET_JOB_ID");
    return "slurm-" + (whole.empty() ? variable("SLURM_JOB_ID") : whole);
  }
  if (name == "Open MPI")
    for (const auto* one : {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid", "OMPI_COMM_WORLD_JOBID"})
      if (const auto id = variable(one); !id.empty())
        return "mpi-" + id;
  if (name == "MPICH" && !variable("PMI_JOBID").empty())
    return "mpi-" + variable("PMI_JOBID");
  return "";
}

std::string step_of(const launcher& by, const variable_reader& variable) {
  if (std::string_view{by.name} != "Slurm")
    return "";
  // A job that is queued again has the same job id and step ids. So the restart count is a part of
  // the name.
  const auto again = variable("SLURM_RESTART_COUNT");
  const auto step = variable("SLURM_STEP_ID");
  return (again.empty() || again == "0" ? "" : "r" + again + (step.empty() ? "" : "-")) + step;
}

result<run_rank> by_launcher(const launcher& by, const variable_reader& variable) {
  constexpr int most = 1 << 20;
  run_rank out{.job = job_of(by, variable), .step = step_of(by, variable), .by = by.name};
  HEADRACE_ASSIGN(out.size, number(by.size, variable(by.size), 1, most));
  HEADRACE_ASSIGN(out.rank, number(by.rank, variable(by.rank), 0, out.size - 1));
  if (by.local_rank != nullptr)
    if (const auto local = variable(by.local_rank); !local.empty()) {
      HEADRACE_ASSIGN(out.local_rank, number(by.local_rank, local, 0, out.size - 1));
    }
  out.local_size = out.local_rank + 1;
  if (by.local_size != nullptr) {
    if (const auto local = variable(by.local_size); !local.empty()) {
      HEADRACE_ASSIGN(out.local_size, number(by.local_size, local, out.local_rank + 1, out.size));
    }
  } else if (const auto counts = variable("SLURM_STEP_TASKS_PER_NODE"); !counts.empty()) {
    const auto node = variable("SLURM_NODEID");
    HEADRACE_ASSIGN(const auto at, number("SLURM_NODEID", node.empty() ? "0" : node, 0, most));
    out.local_size = std::max(out.local_size, tasks_of_node(counts, at));
  }
  return out;
}

} // namespace

std::string variable_of_process(const char* name) {
  const auto* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

result<run_rank> rank_of_process(std::optional<int> nodes, std::optional<int> node_rank,
                                 const variable_reader& variable) {
  if (nodes || node_rank) {
    if (!nodes)
      return invalid_argument("--node-rank needs --nodes, the number of nodes");
    if (!node_rank && *nodes > 1)
      return invalid_argument(fmt::format(
        "--nodes {} needs --node-rank, the number of this node from 0 to {}", *nodes, *nodes - 1));
    if (node_rank && *node_rank >= *nodes)
      return invalid_argument(fmt::format("--node-rank is {}, which is not a number from 0 to {}",
                                          *node_rank, *nodes - 1));
    return run_rank{.rank = node_rank.value_or(0), .size = *nodes, .by = "--nodes"};
  }
  for (const auto& one : launchers)
    if (!variable(one.rank).empty() && !variable(one.size).empty())
      return by_launcher(one, variable);
  return run_rank{};
}

} // namespace headrace::detail::command
