#pragma once

#include "headrace/pipeline/saving/save_plan.hpp"

namespace headrace {

/// What there is of a save, in elements and in bytes of files.
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

/// What a folder holds of a save.
struct opened_save {
  save_plan plan;
  std::vector<bool> there; ///< by piece
  bool whole = false;      ///< all is there, as one dataset
  saved_amount amount;     ///< of what is there
};

/// How a save is begun.
struct save_terms {
  std::string fingerprint; ///< of the graph
  saved_compression compression = saved_compression::snappy;
  uint32_t workers = 1; ///< that are to write
};

// The steps of a save. Any number of processes may take them, one after another or at the same
// time, and be killed anywhere: each piece is one saved dataset in a folder of its own, which is
// there when the first that wrote it has given its manifest a name, and nobody does so twice.
// Errors name files.

/// Divides the dataset into pieces and writes that down in the folder, which is made; or finds what
/// the folder has of the same dataset. `already_exists`: it holds something else.
/// `from`: what iterators need; its splits and seed are not looked at.
result<opened_save> open_save(const std::string& folder, const dataset_ptr& graph,
                              const save_terms& terms, const iterator_context& from);

/// Writes a piece, if nobody has; what is in it. An element that fails is the error.
/// `failed_precondition`: the sources are not what they were for the plan, or one ended early and
/// an `ignore_errors` hides it.
/// `most_file_bytes`: a file that has so many is followed by another one.
/// @pre `number < plan.pieces()`
result<saved_amount> write_piece(const std::string& folder, const dataset_ptr& graph,
                                 const save_plan& plan, uint64_t number, uint64_t most_file_bytes,
                                 const iterator_context& from);

/// Makes one dataset of all pieces, and removes what writers left that were killed.
/// `failed_precondition` if a piece is not there.
result<saved_amount> finish_save(const std::string& folder, const save_plan& plan);

/// What is in piece `number`; nothing if it is not there. `failed_precondition`: a piece of another
/// save is, or another one of this.
result<std::optional<saved_manifest>> find_piece(const std::string& folder, const save_plan& plan,
                                                 uint64_t number);

/// Says in the folder that no plan could be made, unless it holds something.
void note_failed_plan(const std::string& folder, const status& why);

/// The plan of that id; `failed_precondition` if the folder has another one or none.
result<save_plan> read_save_plan(const std::string& folder, uint64_t id);

} // namespace headrace
