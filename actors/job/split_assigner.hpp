#pragma once

#include "headrace/actors/job/index_ranges.hpp"
#include "headrace/actors/job/split_events.hpp"

#include <map>
#include <optional>
#include <vector>

namespace headrace {

/// What becomes of the splits that a lost task had.
enum class lost_policy : uint8_t {
  /// Those it had begun (see `splits::started`) are lost; the others go to other tasks. No element
  /// is seen twice.
  at_most_once,
  /// All that are not done (see `splits::done`) go to other tasks.
  at_least_once,
};

/// One source as the assigner sees it.
struct split_source {
  /// Sources of one group are aligned: leased jointly, as equal ranges. Groups are numbered from
  /// zero without gaps.
  uint32_t group = 0;
  /// Splits in a pass; nullopt: a task will tell.
  std::optional<uint64_t> splits;
};

/// Sources that are leased together.
struct split_group {
  /// Bounds of one lease. 8 for sources under a zip that are not aligned.
  uint64_t min_lease = 1;
  uint64_t max_lease = uint64_t{1} << 20;
  /// The end of a pass need not wait for splits that were begun: sources under a zip that are not
  /// aligned would wait for each other for ever.
  bool end_when_started = false;
};

/// Leases the splits of one repetition of a job to its tasks: the core of DYNAMIC.
///
/// - Ranges by guided self-scheduling: what is left over twice the ready tasks, within the group's
///   bounds, down to one as the source runs out. While a total is unknown leases start at the
///   minimum and double.
/// - A split is out until its source has *read* it. A (pass, source) is over when nothing is left
///   and none is unread; until then who asks waits. Unread splits are asked back from who has most
///   when another task waits.
/// - Each task's log of leases is kept: a restarted runner replays it exactly.
///
/// Every call decides, applies, and returns the events it made; store them before anything of them
/// is sent. `apply` on a fresh assigner recovers the state. Calls of a past incarnation or an
/// unknown task change nothing; repeated ones do no harm. Pure: no time.
class split_assigner {
public:
  struct options {
    std::vector<split_source> sources;
    std::vector<split_group> groups; ///< one a group
    lost_policy lost = lost_policy::at_most_once;
  };
  explicit split_assigner(options o);

  // -- tasks --------------------------------------------------------------------

  /// A new task; or a higher incarnation of a known one, which replays `log`.
  splits::events join(task_id task, incarnation life);
  splits::events set_ready(task_id task, bool ready);
  /// It ended in order: what it had not read goes to others.
  splits::events leave(task_id task);
  /// It is lost for good.
  splits::events lose(task_id task);

  // -- what tasks say -----------------------------------------------------------

  struct request {
    task_id task;
    incarnation life;
    uint32_t source = 0;
    uint64_t pass = 0;
    /// Splits of this (source, pass) that were read, over all leases. Less than was leased: the
    /// lease is on its way, nothing happens.
    uint64_t read = 0;
    /// Splits in this pass, once the task knows.
    std::optional<uint64_t> total;
  };
  splits::events want(const request& r);

  struct progress {
    task_id task;
    incarnation life;
    uint32_t group = 0;
    uint64_t pass = 0;
    /// In splits of the group's log; never goes down. `started` unset: everything leased counts as
    /// begun.
    std::optional<uint64_t> started;
    std::optional<uint64_t> done;
  };
  splits::events report(const progress& p);
  /// A source has read so many splits of a pass, without wanting more yet.
  splits::events report_read(const request& r);

  struct give_back {
    task_id task;
    incarnation life;
    uint32_t group = 0;
    uint64_t pass = 0;
    uint64_t keep = 0; ///< the task keeps the first `keep` splits of its log
    uint64_t had = 0;  ///< how many it knows to have; another lease in between voids the return
  };
  /// Also the answer to `asked_back`, with `keep == had` if there is nothing to return.
  splits::events take_back(const give_back& g);

  // -- recovery -----------------------------------------------------------------

  void apply(const splits::event& e);

  // -- state --------------------------------------------------------------------

  /// What a task was given, in the order of each group and pass; touching ranges are joined.
  std::vector<splits::log_entry> log(task_id task) const;
  /// Nothing of this pass is left or unread: whoever asks is told that it is over.
  bool over(uint32_t group, uint64_t pass) const;
  uint64_t splits_lost() const noexcept { return lost_; }
  /// Ranges held in memory; for tests of its bounds.
  size_t stored_ranges() const noexcept;
  uint32_t groups() const noexcept { return static_cast<uint32_t>(options_.groups.size()); }
  uint32_t group_of(uint32_t source) const { return options_.sources.at(source).group; }

private:
  struct share { ///< what one task has of one (group, pass)
    std::vector<split_range> log;
    uint64_t leased = 0;
    std::map<uint32_t, uint64_t> read; ///< by source
    std::optional<uint64_t> started;
    uint64_t done = 0;
    std::map<uint32_t, bool> waits; ///< by source
    bool over_told = false;
    bool asked_back = false;
    uint64_t asked_at = 0; ///< `leased - read` when it last returned nothing
    bool nothing_to_ask = false;
  };
  struct pass_state {
    uint64_t next = 0; ///< the first index never leased
    std::map<uint32_t, uint64_t> totals;
    index_ranges again; ///< returned or requeued
    uint64_t last_lease = 0;
    std::map<task_id, share> shares;
    std::vector<task_id> queue; ///< who waits, in order
  };
  struct member {
    incarnation life;
    bool ready = false;
  };
  using key = std::pair<uint32_t, uint64_t>; ///< group, pass

  void emit(splits::events& out, splits::event e);
  void serve(key k, splits::events& out);
  void serve_all(splits::events& out);
  bool known(task_id task, incarnation life) const;
  std::optional<uint64_t> total(key k, const pass_state& p) const;
  uint64_t unread(key k, const share& s) const;
  uint64_t returnable(key k, const share& s) const;
  bool exhausted(key k, const pass_state& p) const;
  bool is_over(key k, const pass_state& p) const;
  uint64_t lease_size(key k, const pass_state& p) const;
  void ask_back(key k, pass_state& p, task_id hungry, splits::events& out);

  options options_;
  std::vector<std::vector<uint32_t>> members_; ///< sources of each group
  std::map<task_id, member> tasks_;
  std::map<key, pass_state> passes_;
  uint64_t lost_ = 0;

  void on(const splits::task_joined& e);
  void on(const splits::task_restarted& e);
  void on(const splits::task_left& e);
  void on(const splits::task_readiness& e);
  void on(const splits::total_known& e);
  void on(const splits::wanted& e);
  void on(const splits::leased& e);
  void on(const splits::read& e);
  void on(const splits::started& e);
  void on(const splits::done& e);
  void on(const splits::asked_back& e);
  void on(const splits::returned& e);
  void on(const splits::pass_over& e);
  void on(const splits::taken_from_lost& e);
};

} // namespace headrace
