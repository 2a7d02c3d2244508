#pragma once

#include "headrace/actors/protocol/save_messages.hpp"

#include <map>
#include <optional>
#include <set>
#include <vector>

namespace headrace {

/// The saves that run: which step is next, and which worker has which. Pure. What is written is in
/// the folders of the saves, where no step does harm that is done twice; so nothing here need be
/// kept, and a dispatcher that is started anew looks into the folders again.
class save_table {
public:
  /// A step that was lost so often with its worker fails the save: it may be what ended them.
  static constexpr unsigned most_losses = 5;
  /// So many saves run at most.
  static constexpr size_t most_saves = 1'000;

  /// `most_a_worker`: in so many saves a worker takes part at a time; at least 1. `entropy`: a
  /// random number, after which orders are counted: what a worker says of one that an earlier table
  /// gave is of none of this one.
  save_table(size_t most_a_worker, uint64_t entropy)
    : most_a_worker_(most_a_worker), last_number_(entropy) {}

  void begin(const save_entry& what);
  /// The save that runs into that folder; null: none.
  const save_entry* into(const std::string& path) const;
  size_t size() const noexcept { return saves_.size(); }
  std::optional<save_view> find(save_id id) const;
  std::vector<save_view> all() const;

  /// How steps of the worker ended, and which are next for it. `who`: for messages.
  save_steps ask(worker_id worker, const std::string& who, const save_question& what,
                 uint32_t workers);
  /// The worker is lost or has left: others do what it had begun.
  void worker_gone(worker_id worker);
  /// There is a step that this worker could take.
  bool has_step_for(worker_id worker) const;
  /// There are so many steps that nobody has.
  size_t open_steps() const;
  /// Saves that are over since the last call; they are not in the table any more.
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
    std::set<uint64_t> open; ///< pieces that are not there, and that nobody has
    bool step_open = true;   ///< planning or finishing, and nobody does it
    std::map<worker_id, given> out;
    /// Pieces that were lost with their worker, and how often those were that it did alone.
    std::map<uint64_t, unsigned> lost;
    std::optional<unsigned> lost_steps; ///< the same of other steps, one after another
  };

  static std::optional<save_step> next_of(save& of);
  static bool has_step(const save& of) noexcept;
  void take(save& of, worker_id worker, const std::string& who, const save_report& what);
  /// What was lost with a step: its worker, which did nothing else or other steps too, or nothing.
  enum class lost_with { nothing, it_alone, others };
  void reopen(save& of, const save_step& what, lost_with how);
  /// The next step of a save was lost with a worker, which it may have ended.
  static bool is_suspect(const save& of) noexcept;
  /// The worker does such a step.
  bool tries_suspect(worker_id worker) const;
  static void changed(save& of) { ++of.now.version; }
  void end(save& of, save_state how, status why);
  static void planned(save& of, const save_planned& what);
  void drop_ended();

  size_t busy_with(worker_id worker) const;

  size_t most_a_worker_;
  uint64_t last_number_; ///< of an order
  std::map<save_id, save> saves_;
  std::vector<save_id> order_; ///< in which they began
  std::vector<save_view> ended_;
  std::vector<save_order> notes_; ///< that saves have ended early, where no worker knows it
};

} // namespace headrace
