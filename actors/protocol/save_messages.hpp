#pragma once

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace headrace::detail {

/// Messages about saves, as plain structs. In a save, all workers write a dataset into one folder.
/// A save consists of steps (pipeline/saving). Each step is assigned to one worker at a time.

using save_id = strong_id<struct save_tag>;

/// A client requests that a dataset be saved.
struct save_request {
  dataset_registration dataset;
  std::string path; ///< the folder, as an absolute path on the workers
  std::string compression;
};

/// A save in the record of the service. Its progress is recorded in its folder.
struct save_entry {
  save_id id;
  std::string path;
  std::string dataset_id;
  std::string fingerprint; ///< SHA-256 of the graph
  std::string compression;
  friend bool operator==(const save_entry&, const save_entry&) = default;
};

// -- steps ------------------------------------------------------------------------------------

/// Divides the dataset into pieces, or finds out what is in the folder already.
struct plan_step {
  friend bool operator==(const plan_step&, const plan_step&) = default;
};
/// Writes one piece.
struct piece_step {
  uint64_t piece = 0;
  friend bool operator==(const piece_step&, const piece_step&) = default;
};
/// Joins all pieces to one dataset.
struct finish_step {
  friend bool operator==(const finish_step&, const finish_step&) = default;
};
/// Writes into the folder why the save ended early.
struct note_step {
  status why;
  friend bool operator==(const note_step&, const note_step&) = default;
};
using save_step = std::variant<plan_step, piece_step, finish_step, note_step>;

/// True if a worker needs the dataset's graph for the step.
inline bool needs_graph(const save_step& step) noexcept {
  return std::holds_alternative<plan_step>(step) || std::holds_alternative<piece_step>(step);
}

/// A step for one worker.
struct save_order {
  save_entry what;
  uint64_t number = 0; ///< identifies this order
  uint64_t plan = 0;   ///< the plan that must be in the folder; zero if it is unknown
  uint32_t workers = 1;
  save_step step;
  friend bool operator==(const save_order&, const save_order&) = default;
};

/// Amounts that were written.
struct save_written {
  uint64_t rows = 0;
  uint64_t bytes = 0; ///< size of the files
  friend bool operator==(const save_written&, const save_written&) = default;
};
/// The dataset is divided into pieces.
struct save_planned {
  uint64_t plan = 0;
  std::vector<bool> there; ///< for each piece: true if it is written
  bool whole = false;      ///< everything is written, and no step is left
  std::string whole_because;
  save_written written;
  friend bool operator==(const save_planned&, const save_planned&) = default;
};
/// The piece is written.
struct piece_written {
  save_written what;
  friend bool operator==(const piece_written&, const piece_written&) = default;
};
/// The whole dataset is written.
struct save_finished {
  save_written what;
  friend bool operator==(const save_finished&, const save_finished&) = default;
};
/// The step was not done: it can be assigned to another worker.
struct step_given_back {
  friend bool operator==(const step_given_back&, const step_given_back&) = default;
};

/// The outcome of a step. A status means that the step failed, and that it would fail on other
/// workers, too.
struct save_report {
  save_id id;
  uint64_t number = 0; ///< the number of the order
  std::variant<save_planned, piece_written, save_finished, status, step_given_back> how;
  friend bool operator==(const save_report&, const save_report&) = default;
};

/// A worker reports the outcomes of its steps and requests new ones. The message is repeated until
/// it is answered.
struct save_question {
  struct working {
    save_id id;
    uint64_t number = 0;
    friend bool operator==(const working&, const working&) = default;
  };
  bool takes = true; ///< the worker takes more steps; false if it is about to leave
  std::vector<working> running;
  std::vector<save_report> reports;
};
/// The answer to a `save_question`.
struct save_steps {
  std::vector<save_order> orders;
  /// Saves in `save_question::running` whose steps the worker must stop: the save has ended, or its
  /// step is no longer assigned to this worker.
  std::vector<save_id> over;
};

// -- the progress of a save -----------------------------------------------------------------

enum class save_state : uint8_t { planning, writing, finishing, saved, failed };

struct save_view {
  save_id id;
  uint64_t version = 0; ///< increases with each change of the save
  std::string path;
  std::string dataset_id;
  save_state state = save_state::planning;
  uint64_t pieces = 0;       ///< zero until the number of pieces is known
  uint64_t written = 0;      ///< number of written pieces
  save_written amount;       ///< the amounts in the written pieces
  uint32_t workers = 0;      ///< the number of workers that have a step of the save
  status failure;            ///< not ok if the save failed
  std::string whole_because; ///< why one worker writes the dataset alone; else empty

  bool over() const noexcept { return state == save_state::saved || state == save_state::failed; }
  friend bool operator==(const save_view&, const save_view&) = default;
};

} // namespace headrace::detail
