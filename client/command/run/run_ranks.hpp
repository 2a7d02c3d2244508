#pragma once

#include "headrace/client/command/run/run_directory.hpp"
#include "headrace/client/command/run/run_rank.hpp"
#include "headrace/client/service_status.hpp"
#include "headrace/runtime/base/clock.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

/// Functions with which a process of `headrace run` determines the state of the other ranks, from
/// the status of their service and the records in their directory. They read and send nothing
/// themselves.
namespace headrace::detail::command {

/// The tag of the workers that the process of a rank starts.
std::string tag_of_rank(int rank);
/// The tag of the workers of one process. `process`: its random number.
std::string tag_of_process(const std::string& process);
bool has_tag(const worker_status& x, const std::string& tag);

/// "rank 1", "ranks 1 and 2". @pre `ranks` is not empty
std::string ranks_text(const std::vector<int>& ranks);

/// The records of the ranks in their directory; null if the ranks meet at an address, and not in a
/// directory.
using rank_records = const std::map<int, run_progress>*;

/// Ranks that have not started yet, or not all of whose workers have registered yet.
struct missing_ranks {
  std::vector<int> ranks;
  std::string about; ///< the number of their registered workers, as text; may be empty
};

/// The missing ranks while a run begins. `now`: the status of the service. `workers`: the number of
/// workers that the rank of this process starts; if there are no records, each rank is assumed to
/// start as many.
missing_ranks missing_at_begin(const service_status& now, const run_rank& own, int workers,
                               rank_records records);

/// Finds the ranks whose commands have not ended, by repeated calls of `look`.
class unended_ranks {
public:
  /// True if the rank is to be considered. `record`: the rank's record; null: there is none.
  using question = std::function<bool(int rank, const run_progress* record)>;

  /// Returns the ranks for which `matters` is true and that have not ended. A rank counts as ended
  /// if its record has the state `state` or "ended", or if it has workers and either all of them
  /// have left or none has been alive for ten seconds. `now`: null if the service did not answer.
  std::vector<int> look(const service_status* now, rank_records records, const run_rank& own,
                        const question& matters, const std::string& state, time_point at);

private:
  std::map<int, time_point> without_; ///< by rank: the time since which it has no living worker
};

/// A worker that another process with the same rank has started. Ranks that meet at an address have
/// no records, so such a process can be detected only by its workers in the service.
struct rival {
  std::string address; ///< empty: there is none
  /// The worker has sent a heartbeat, or has left, since this process began. Otherwise it may
  /// belong to a killed run; then its lease will expire.
  bool lives = false;
};

/// The worker in a status that another process has started for this rank. `process`: the random
/// number of this process. `here_for`: how long this process has run. `remembers`: the dispatcher
/// keeps its state on the disk, so that it also lists workers that left it in an earlier run.
rival rival_of(const service_status& now, int rank, const std::string& process, duration here_for,
               bool remembers);

} // namespace headrace::detail::command
