#pragma once

#include "headrace/actors/protocol/save_messages.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace headrace::detail {

/// The running saves: which step is next, and which worker has which step. Pure. The progress of a
/// save is recorded in its folder, and a step may be done twice without harm. So nothing in this
/// table is durable: after a restart of the dispatcher, workers find the progress in the folders.
class save_table {
public:
  /// A save fails when one of its steps was lost this many times with workers that had no other
  /// step: the step itself may have caused the workers to end.
  static constexpr unsigned most_losses = 5;
  /// The most saves that may run at a time.
  static constexpr size_t most_saves = 1'000;

  /// `most_a_worker`: the most saves in which a worker takes part at a time; at least 1. `entropy`:
  /// a random number. The orders to carry out steps are numbered from it, so that reports about
  /// orders of an earlier table match no order of this one.
  save_table(size_t most_a_worker, uint64_t entropy)
    : most_a_worker_(most_a_worker), last_number_(entropy) {}

  void begin(const save_entry& what);
  /// The running save into that folder; null: none.
  const save_entry* into(const std::string& path) const;
  size_t size() const noexcept { return saves_.size(); }
  std::optional<save_view> find(save_id id) const;
  std::vector<save_view> all() const;

  /// Takes a worker's reports about its steps, and returns its next steps. `who`: the worker's
  /// name, for messages.
  save_steps ask(worker_id worker, const std::string& who, const save_question& what,
                 uint32_t workers);
  /// The worker has left in order: its steps are assigned to other workers.
  void worker_left(worker_id worker);
  /// The worker is lost: its steps are assigned to other workers, and counted as lost.
  void worker_lost(worker_id worker);
  /// True if there is a step that this worker could take.
  bool has_step_for(worker_id worker) const;
  /// The number of steps that no worker has.
  size_t open_steps() const;
  /// The saves that have ended since the last call; they are removed from the table.
  std::vector<save_view> take_ended();

private:
  struct given {
    uint64_t number = 0;
    save_step step;
  };
  struct save {
    save_entry what;
    save_view now;
    uint64_t plan = 0;
    std::set<uint64_t> open; ///< pieces that are not written and that no worker has
    bool step_open = true;   ///< planning or finishing is due, and no worker has it
    std::map<worker_id, given> out;
    /// Pieces that were lost with a worker. The value is the number of losses in which the worker
    /// had no other step.
    std::map<uint64_t, unsigned> lost;
    std::optional<unsigned> lost_steps; ///< as `lost`, for the steps to plan and to finish
  };

  static std::optional<save_step> next_of(save& of);
  static bool has_step(const save& of) noexcept;
  void take(save& of, worker_id worker, const std::string& who, const save_report& what);
  /// Whether a step was lost with its worker, and whether that worker had other steps too.
  enum class step_loss { none, only_step, one_of_several };
  void reopen(save& of, const save_step& what, step_loss how);
  void reopen_all(worker_id worker, step_loss how);
  /// True if the next step of a save was lost with a worker, so that it may be the reason why that
  /// worker ended.
  static bool is_suspect(const save& of) noexcept;
  /// True if the worker repeats a step that was lost before.
  bool repeats_lost_step(worker_id worker) const;
  static void changed(save& of) { ++of.now.version; }
  void end(save& of, save_state how, status why);
  static void planned(save& of, const save_planned& what);
  void drop_ended();

  size_t busy_with(worker_id worker) const;

  size_t most_a_worker_;
  uint64_t last_number_; ///< the number of the last order
  std::map<save_id, save> saves_;
  std::vector<save_id> order_; ///< the saves in the order in which they began
  std::vector<save_view> ended_;
  std::vector<save_order> notes_; ///< orders to write the reason of a failed save into its folder
};

} // namespace headrace::detail
