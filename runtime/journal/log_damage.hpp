#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace headrace::detail {

/// Reads bytes of a file at an offset; false if the file does not contain all of them.
using read_at = std::function<bool(uint64_t offset, std::span<std::byte> to)>;

/// Searches SQLite's write-ahead log of `size` bytes for damage, other than an incomplete end.
/// Returns a description; nullopt: the log is not damaged.
///
/// SQLite reads the log up to the first incomplete frame. This is correct after a crash: a commit
/// is synced before the next begins, so only the last one can be incomplete. But SQLite would also
/// silently drop whole commits after a frame that was damaged later. So the log is damaged if a
/// complete commit ends at the first bad frame or after it. A commit counts as complete if the
/// frame after it continues its checksum. The format: sqlite.org/fileformat2.html#walformat
std::optional<std::string> damage_in_log(const read_at& read, uint64_t size);

} // namespace headrace::detail
