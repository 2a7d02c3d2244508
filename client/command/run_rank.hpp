#pragma once

#include "headrace/runtime/base/result.hpp"

#include <functional>
#include <optional>
#include <string>

namespace headrace::command {

/// Which one of the processes of a run this is: `headrace run` is started once on each node, or
/// several times on each.
struct run_rank {
  int rank = 0;
  int size = 1;
  int local_rank = 0; ///< among those of its node
  int local_size = 1;
  /// The launcher's name of this job, for file names; empty: there is none.
  std::string job;
  /// What said so: `--nodes`, or a launcher; empty: nothing did, and this process is alone.
  std::string by;
};

/// The value of an environment variable; empty: it is not set.
using variable_reader = std::function<std::string(const char*)>;
/// Reads the variables of this process.
std::string variable_of_process(const char* name);

/// By `--nodes` and `--node-rank` if they are given, else by the variables of torchrun, Open MPI,
/// MPICH (and its kin), of a Slurm job step or of parallel-ssh, in this order: what starts
/// processes within another one comes first. Errors name the option or variable that is missing or
/// wrong.
result<run_rank> rank_of_process(std::optional<int> nodes, std::optional<int> node_rank,
                                 const variable_reader& variable);

} // namespace headrace::command
