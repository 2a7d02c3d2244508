#pragma once

#include "headrace/actors/protocol/dataset_messages.hpp"
#include "headrace/runtime/base/ids.hpp"
#include "headrace/runtime/base/status.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace headrace {

/// What is said of saves, datasets that all workers write into one folder, as plain structs. A save
/// is done in steps (pipeline/saving), each of which is given to one worker at a time.

using save_id = strong_id<struct save_tag>;

/// Somebody wants a dataset saved.
struct save_request {
  dataset_registration dataset;
  std::string path; ///< of the folder, as workers see it; from the root
  std::string compression;
};

/// A save as the service keeps it. How far it is, is in its folder.
struct save_entry {
  save_id id;
  std::string path;
  std::string dataset_id;
  std::string fingerprint; ///< SHA-256 of the graph
  std::string compression;
  friend bool operator==(const save_entry&, const save_entry&) = default;
};

// -- steps ------------------------------------------------------------------------------------

/// Divide the dataset into pieces, or find what its folder holds.
struct plan_step {
  friend bool operator==(const plan_step&, const plan_step&) = default;
};
/// Write one piece.
struct piece_step {
  uint64_t piece = 0;
  friend bool operator==(const piece_step&, const piece_step&) = default;
};
/// Make one dataset of all pieces.
struct finish_step {
  friend bool operator==(const finish_step&, const finish_step&) = default;
};
/// Say in the folder why the save ended early.
struct note_step {
  status why;
  friend bool operator==(const note_step&, const note_step&) = default;
};
using save_step = std::variant<plan_step, piece_step, finish_step, note_step>;

/// Does a worker need the dataset's graph for it?
inline bool needs_graph(const save_step& step) noexcept {
  return std::holds_alternative<plan_step>(step) || std::holds_alternative<piece_step>(step);
}

/// A step for one worker.
struct save_order {
  save_entry what;
  uint64_t number = 0; ///< of this order; no other one has it
  uint64_t plan = 0;   ///< that must be in the folder; zero before it is known
  uint32_t workers = 1;
  save_step step;
  friend bool operator==(const save_order&, const save_order&) = default;
};

/// What there is of a save.
struct save_written {
  uint64_t rows = 0;
  uint64_t bytes = 0; ///< of files
  friend bool operator==(const save_written&, const save_written&) = default;
};
/// The dataset is divided.
struct save_planned {
  uint64_t plan = 0;
  std::vector<bool> there; ///< by piece
  bool whole = false;      ///< all is there, and nothing is left to do
  std::string whole_because;
  save_written written;
  friend bool operator==(const save_planned&, const save_planned&) = default;
};
/// The piece is there.
struct piece_written {
  save_written what;
  friend bool operator==(const piece_written&, const piece_written&) = default;
};
/// The dataset is there, whole.
struct save_finished {
  save_written what;
  friend bool operator==(const save_finished&, const save_finished&) = default;
};
/// Not done: it is for other workers.
struct step_given_back {
  friend bool operator==(const step_given_back&, const step_given_back&) = default;
};

/// How a step ended. A status: it failed, and no other worker would do better.
struct save_report {
  save_id id;
  uint64_t number = 0; ///< of the order
  std::variant<save_planned, piece_written, save_finished, status, step_given_back> how;
  friend bool operator==(const save_report&, const save_report&) = default;
};

/// A worker says how its steps ended, and asks for others. Repeated until it is answered.
struct save_question {
  struct working {
    save_id id;
    uint64_t number = 0;
    friend bool operator==(const working&, const working&) = default;
  };
  bool takes = true; ///< more steps; not if it is about to leave
  std::vector<working> running;
  std::vector<save_report> reports;
};
/// The answer.
struct save_steps {
  std::vector<save_order> orders;
  std::vector<save_id> over; ///< saves that the worker works on, for nothing: it is to stop
};

// -- how far it is --------------------------------------------------------------------------

enum class save_state : uint8_t { planning, writing, finishing, saved, failed };

struct save_view {
  save_id id;
  uint64_t version = 0; ///< another one with each change
  std::string path;
  std::string dataset_id;
  save_state state = save_state::planning;
  uint64_t pieces = 0;       ///< zero until that is known
  uint64_t written = 0;      ///< pieces that are there
  save_written amount;       ///< of these
  uint32_t workers = 0;      ///< that work on it now
  status failure;            ///< why it failed
  std::string whole_because; ///< why one worker writes it alone; else empty

  bool over() const noexcept { return state == save_state::saved || state == save_state::failed; }
  friend bool operator==(const save_view&, const save_view&) = default;
};

} // namespace headrace
