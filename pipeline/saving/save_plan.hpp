#pragma once

#include "headrace/pipeline/iterator/ports.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"

#include <optional>
#include <string>
#include <vector>

namespace headrace {

/// Which pieces there are of a dataset that several processes save into one folder. See SavePlan in
/// schemas/saved.capnp.
struct save_plan {
  /// One pass over sources that advance together.
  struct section {
    uint32_t group = 0; ///< of the sources, see `split_plan`
    uint64_t pass = 0;
    uint64_t splits = 0;
    uint64_t piece_splits = 1; ///< of each piece; the last one has what is left
    uint64_t digest = 0;       ///< of what the first of the sources lists; 0: nothing
    uint64_t pieces() const noexcept {
      return splits / piece_splits + (splits % piece_splits != 0);
    }
    friend bool operator==(const section&, const section&) = default;
  };
  /// What one piece is made of.
  struct piece {
    const section* of = nullptr; ///< null: of the whole dataset
    split_range splits;
  };

  uint64_t id = 0;         ///< drawn when it was made
  std::string fingerprint; ///< of the dataset's graph
  element_spec spec;
  saved_compression compression = saved_compression::none;
  uint64_t seed = 0;             ///< for operators that were given none
  std::vector<section> sections; ///< in the order of the graph
  /// Why the dataset is one piece; empty: it is divided.
  std::string whole_because;

  bool divided() const noexcept { return whole_because.empty(); }
  /// What the manifest of a piece says as its id: so those of another save, or of another number,
  /// are told from it.
  uint64_t id_of(uint64_t piece) const noexcept;
  uint64_t pieces() const noexcept;
  /// @pre `number < pieces()`
  piece piece_of(uint64_t number) const noexcept;
};

/// Pieces are bounded in number, as each has a folder.
inline constexpr uint64_t most_save_pieces = 65'536;

/// How a pass over a source is divided.
struct piece_sizing {
  bool rows = false;     ///< a split is a row, not a file or the like
  uint64_t multiple = 1; ///< pieces begin at multiples of so many splits
  uint32_t workers = 1;  ///< that make pieces
  uint64_t passes = 1;   ///< over all sources, each of which gets pieces of its own
};
/// How many of a pass's splits make a piece: at least 1, and no more than there are. Up to
/// `most_save_pieces` passes have no more pieces than that.
uint64_t splits_a_piece(uint64_t splits, const piece_sizing& how) noexcept;

// -- in the folder --------------------------------------------------------------------------

/// Where piece `number` is saved.
std::string piece_folder(const std::string& folder, uint64_t number);

/// Nothing if nobody saves into the folder. `data_loss` names a damaged file.
result<std::optional<save_plan>> find_save_plan(const std::string& folder);
/// Makes the plan that of the folder; `already_exists` if it has one.
status write_save_plan(const std::string& folder, const save_plan& what);

/// Says in the folder that the save ended early, for those who wait for its pieces. Not where the
/// folder has another plan by now; `plan` 0: it has none.
status note_save_failure(const std::string& folder, uint64_t plan, const status& why);
/// What was noted; ok if nothing was.
status noted_save_failure(const std::string& folder);
/// The save goes on.
void forget_save_failure(const std::string& folder);

} // namespace headrace
