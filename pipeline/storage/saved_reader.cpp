#include "headrace/pipeline/storage/saved_reader.hpp"

#include "headrace/pipeline/storage/stored_record.hpp"

#include <algorithm>
#include <fmt/format.h>

namespace headrace::detail {

result<saved_reader> saved_reader::open(std::string folder, const element_spec& expected) {
  HEADRACE_ASSIGN(auto manifest, read_saved(folder));
  if (!expected.accepts(manifest.spec))
    return invalid_argument(fmt::format("'{}' holds elements of {}, expected were {}", folder,
                                        to_string(manifest.spec), to_string(expected)));
  return saved_reader{std::move(folder), std::move(manifest)};
}

saved_reader::saved_reader(std::string folder, saved_manifest manifest)
  : folder_(std::move(folder)), manifest_(std::move(manifest)), firsts_{0} {
  for (const auto& shard : manifest_.shards)
    firsts_.push_back(firsts_.back() + shard.blocks.size());
}

saved_reader::place saved_reader::find(uint64_t number) const noexcept {
  const auto shard =
    static_cast<size_t>(std::ranges::upper_bound(firsts_, number) - firsts_.begin()) - 1;
  return {shard, static_cast<size_t>(number - firsts_[shard])};
}

uint32_t saved_reader::rows_of(uint64_t block) const noexcept {
  const auto at = find(block);
  return manifest_.shards[at.shard].blocks[at.block].rows;
}

result<block> saved_reader::read(uint64_t number) {
  const auto at = find(number);
  const auto& shard = manifest_.shards[at.shard];
  if (open_shard_ != at.shard) {
    HEADRACE_ASSIGN(auto file, random_file::open(folder_ + "/" + shard.file));
    if (file->bytes() != shard.bytes)
      return data_loss(fmt::format("'{}' has {} bytes; {} were written: it is truncated or another "
                                   "file",
                                   file->path(), file->bytes(), shard.bytes));
    file_ = std::move(file);
    open_shard_ = at.shard;
  }
  const auto& record = shard.blocks[at.block];
  HEADRACE_ASSIGN(const auto bytes, read_stored_record(*file_, record.offset, shard.bytes));
  auto rows = decode_rows(bytes, manifest_.compression, manifest_.spec);
  if (rows && rows->rows != record.rows)
    rows = data_loss(fmt::format("it has {} rows, {} were written", rows->rows, record.rows));
  if (!rows)
    return rows.status().with_context(
      fmt::format("'{}': the record at offset {}", file_->path(), record.offset));
  return rows;
}

} // namespace headrace::detail
