#pragma once

#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <optional>
#include <string>

namespace headrace::detail::command {

/// The rank of this process in the run. `headrace run` is started once, or several times, on each
/// node of the run.
struct run_rank {
  int rank = 0;
  int size = 1;
  int local_rank = 0; ///< the number among the processes of its node
  int local_size = 1;
  /// The launcher's id of this job, for file names; empty: there is none.
  std::string job;
  /// Distinguishes the runs of one job; may be empty.
  std::string step;
  /// The source of these numbers: `--nodes`, or the launcher; empty: none, as the process is alone.
  std::string by;

  /// The name of the run, from its job and step; empty: there is none.
  std::string name() const { return step.empty() ? job : job + "-" + step; }
};

/// A function that returns the value of an environment variable, or an empty string if it is not
/// set.
using variable_reader = std::function<std::string(const char*)>;
/// Returns an environment variable of this process; empty if it is not set.
std::string variable_of_process(const char* name);

/// The rank by `--nodes` and `--node-rank` if these are given, else by the variables of torchrun,
/// Open MPI, MPICH (and related launchers), of a Slurm job step or of parallel-ssh, in this order:
/// launchers that run inside others come first. Errors name the option or variable that is missing
/// or wrong.
result<run_rank> rank_of_process(std::optional<int> nodes, std::optional<int> node_rank,
                                 const variable_reader& variable);

} // namespace headrace::detail::command
