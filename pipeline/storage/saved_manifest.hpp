#pragma once

#include "headrace/pipeline/types/saved_compression.hpp"
#include "headrace/pipeline/types/spec.hpp"
#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headrace::detail {

/// The contents of a folder of saved elements. See schemas/saved.capnp.
struct saved_manifest {
  struct record {
    uint64_t offset = 0; ///< the offset in the shard's file
    uint32_t rows = 0;
  };
  struct shard {
    std::string file; ///< the path in the folder: `<name>`, or `pieces/<number>/<name>`
    uint64_t bytes = 0;
    std::vector<record> blocks;
  };

  uint64_t id = 0; ///< random; of a save: the plan's id; of a piece: `save_plan::id_of`
  element_spec spec;
  saved_compression compression = saved_compression::none;
  std::vector<shard> shards;

  uint64_t rows() const noexcept;
  uint64_t blocks() const noexcept;
};

/// The manifest of the folder; empty if the folder contains no saved elements (yet). `data_loss`
/// names a damaged file.
result<std::optional<saved_manifest>> find_saved(const std::string& folder);
/// As `find_saved`, but `not_found` if there are no saved elements.
result<saved_manifest> read_saved(const std::string& folder);
/// Makes `what` the contents of the folder, in one step. `replace`: earlier contents are replaced;
/// otherwise they result in `already_exists`.
status write_saved(const std::string& folder, const saved_manifest& what, bool replace = true);

} // namespace headrace::detail
