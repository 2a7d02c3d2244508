#pragma once

#include "headrace/pipeline/saving/save_plan.hpp"

namespace headrace::detail {

/// The amount that is saved, in elements and in bytes of files.
struct saved_amount {
  uint64_t rows = 0;
  uint64_t bytes = 0;
  saved_amount& operator+=(const saved_amount& x) {
    rows += x.rows;
    bytes += x.bytes;
    return *this;
  }
  friend bool operator==(const saved_amount&, const saved_amount&) = default;
};

/// The state of a save in its folder.
struct opened_save {
  save_plan plan;
  std::vector<bool> there; ///< whether each piece is written
  bool whole = false;      ///< the save is complete: its pieces were joined to one dataset
  saved_amount amount;     ///< the amount of all pieces that are written
};

/// The parameters of a save.
struct save_terms {
  std::string fingerprint; ///< the fingerprint of the graph
  saved_compression compression = saved_compression::snappy;
  uint32_t workers = 1; ///< the number of workers that will write
};

// The steps of a save. Any number of processes may take them, one after another or at the same
// time, and may be killed at any point. Each piece is a saved dataset in a folder of its own. A
// piece exists once a process has given the manifest in that folder its final name, which only the
// first process can do. The messages of errors name the files.

/// Makes the folder. Divides the dataset into pieces and writes the plan into the folder; if the
/// folder has a plan of the same dataset, reads that plan. `already_exists`: the folder contains
/// something else.
/// `from`: the context for iterators; its splits and seed are not used.
result<opened_save> open_save(const std::string& folder, const dataset_ptr& graph,
                              const save_terms& terms, const iterator_context& from);

/// Writes a piece, unless it is written already; returns its amount. If an element fails, its error
/// is returned. `failed_precondition`: the sources have changed since the plan was made, or a
/// source ended early and an `ignore_errors` hides that. `most_file_bytes`: when a file has this
/// many bytes, a further file is begun. @pre `number < plan.pieces()`
result<saved_amount> write_piece(const std::string& folder, const dataset_ptr& graph,
                                 const save_plan& plan, uint64_t number, uint64_t most_file_bytes,
                                 const iterator_context& from);

/// Joins all pieces to one dataset, and removes files of writers that were killed.
/// `failed_precondition`: a piece is missing.
result<saved_amount> finish_save(const std::string& folder, const save_plan& plan);

/// The manifest of piece `number`; empty if the piece is not written. `failed_precondition`: its
/// folder contains a piece of another save, or a piece with another number.
result<std::optional<saved_manifest>> find_piece(const std::string& folder, const save_plan& plan,
                                                 uint64_t number);

/// Writes a note into the folder that no plan could be made, unless the folder has a plan or saved
/// elements.
void note_failed_plan(const std::string& folder, const status& why);

/// The plan with that id; `failed_precondition`: the folder has another plan or none.
result<save_plan> read_save_plan(const std::string& folder, uint64_t id);

} // namespace headrace::detail
