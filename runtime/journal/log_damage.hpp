#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>

namespace headrace::detail {

/// Reads bytes of a file at an offset; false if they are not all there.
using read_at = std::function<bool(uint64_t offset, std::span<std::byte> to)>;

/// What is damaged in SQLite's write-ahead log of so many bytes, other than that its end is torn.
///
/// SQLite takes the log up to the first frame that is not whole, which is right for what a crash
/// leaves: a commit is synced before the next begins, so only the last can be torn. It would also
/// silently forget whole commits after a frame that was damaged later. Those show in a commit that
/// is followed by a frame which continues its checksum: so it was complete.
/// The format: sqlite.org/fileformat2.html#walformat
std::optional<std::string> damage_in_log(const read_at& read, uint64_t size);

} // namespace headrace::detail
