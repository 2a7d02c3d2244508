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
/// SQLite reads the log up to the first frame with a wrong checksum. This is right after a crash: a
/// commit is synced before the next begins, so only the last one can be incomplete. But if a frame
/// was damaged later, SQLite would silently drop its commit and all later ones. So the log counts
/// as damaged if, at the first bad frame or after it, a commit ends and a further frame continues
/// its checksum: this commit was complete. The format: sqlite.org/fileformat2.html#walformat
std::optional<std::string> damage_in_log(const read_at& read, uint64_t size);

} // namespace headrace::detail
