#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headrace::detail {

/// The pieces of a dataset that several processes save into one folder. See SavePlan in
/// schemas/saved.capnp.
struct save_plan {
  /// One pass over the sources of one group.
  struct section {
    uint32_t group = 0; ///< the group of sources, see `split_plan`
    uint64_t pass = 0;
    uint64_t splits = 0;
    /// The number of splits of each piece; the last piece has the remaining ones.
    uint64_t piece_splits = 1;
    /// The digest of the listing of the first source; 0: the source has none.
    uint64_t digest = 0;
    uint64_t pieces() const noexcept {
      return splits / piece_splits + (splits % piece_splits != 0);
    }
    friend bool operator==(const section&, const section&) = default;
  };
  /// The splits of one piece.
  struct piece {
    const section* of = nullptr; ///< null: the piece is the whole dataset
    split_range splits;
  };

  uint64_t id = 0;         ///< drawn when the plan was made
  std::string fingerprint; ///< the fingerprint of the dataset's graph
  element_spec spec;
  saved_compression compression = saved_compression::none;
  uint64_t seed = 0;             ///< the seed for operators that have none of their own
  std::vector<section> sections; ///< in the order in which one run begins them
  /// The reason why the dataset is one piece; empty: it is divided.
  std::string whole_because;

  bool divided() const noexcept { return whole_because.empty(); }
  /// The id in the manifest of a piece. It differs between saves and between pieces.
  uint64_t id_of(uint64_t piece) const noexcept;
  uint64_t pieces() const noexcept;
  /// @pre `number < pieces()`
  piece piece_of(uint64_t number) const noexcept;
};

/// The number of pieces is bounded, because each has a folder.
inline constexpr uint64_t most_save_pieces = 65'536;

/// The parameters for dividing a pass over a source into pieces.
struct piece_sizing {
  bool rows = false;     ///< true: a split is one row; false: for instance a file
  uint64_t multiple = 1; ///< pieces begin at multiples of this many splits
  uint32_t workers = 1;  ///< the number of workers that write pieces
  /// The number of passes over all sources together. Each pass has pieces of its own.
  uint64_t passes = 1;
};
/// The number of splits in a piece: at least 1, and at most all. If there are at most
/// `most_save_pieces` passes, they have at most `most_save_pieces` pieces together.
uint64_t splits_a_piece(uint64_t splits, const piece_sizing& how) noexcept;

// -- files in the folder --------------------------------------------------------------------

/// The folder of piece `number`.
std::string piece_folder(const std::string& folder, uint64_t number);

/// The plan in the folder; empty if there is none. `data_loss` names a damaged file.
result<std::optional<save_plan>> find_save_plan(const std::string& folder);
/// Writes the plan into the folder; `already_exists` if the folder has one.
status write_save_plan(const std::string& folder, const save_plan& what);

/// Writes a note into the folder that the save ended early, for processes that wait for its pieces.
/// `plan`: the id of the save's plan; 0: no plan was made. Does nothing if `plan` is not 0 and the
/// folder does not contain that plan any more.
status note_save_failure(const std::string& folder, uint64_t plan, const status& why);
/// `aborted` with the text of the note, or the error of reading the note; ok if there is no note.
status noted_save_failure(const std::string& folder);
/// Removes the note, if there is one. To be called when the save continues or is complete.
void forget_save_failure(const std::string& folder);

} // namespace headrace::detail
