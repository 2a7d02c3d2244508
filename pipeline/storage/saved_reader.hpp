#pragma once

#include "headrace/pipeline/files/random_file.hpp"
#include "headrace/pipeline/storage/saved_manifest.hpp"
#include "headrace/pipeline/types/block.hpp"

#include <memory>

namespace headrace::detail {

/// Reads elements that a `saved_writer` wrote, block by block, in any order. Errors name the file,
/// and for a damaged record its offset. Not thread-safe.
class saved_reader {
public:
  /// `expected`: the spec of the elements. `invalid_argument`: the saved elements have a spec that
  /// `expected` does not accept.
  static result<saved_reader> open(std::string folder, const element_spec& expected);
  saved_reader(std::string folder, saved_manifest manifest);

  const saved_manifest& manifest() const noexcept { return manifest_; }
  /// The number of blocks in all shards.
  uint64_t blocks() const noexcept { return firsts_.back(); }
  /// The number of the first block of a shard; for `shard + 1`, the end of the blocks of `shard`.
  /// @pre `shard <= shards`
  uint64_t first_block(size_t shard) const noexcept { return firsts_[shard]; }
  uint32_t rows_of(uint64_t block) const noexcept;
  /// @pre `number < blocks()`
  result<block> read(uint64_t number);

private:
  struct place {
    size_t shard;
    size_t block;
  };
  place find(uint64_t number) const noexcept;

  std::string folder_;
  saved_manifest manifest_;
  std::vector<uint64_t> firsts_; ///< the first block of each shard; then the number of blocks
  size_t open_shard_ = SIZE_MAX;
  std::unique_ptr<const random_file> file_; ///< the file of the shard that was read last
};

} // namespace headrace::detail
