#include "headrace/pipeline/storage/shard_rows.hpp"

#include "headrace/pipeline/iterator/gather.hpp"

#include <fmt/format.h>
#include <map>

namespace headrace::detail {

status write_sharded(saved_writer& to, const block& rows, const column& shards,
                     uint64_t& kernel_calls) {
  std::map<int64_t, std::vector<row_run>> runs;
  const auto numbers = shards.values<int64_t>();
  for (uint32_t i = 0; i < rows.rows; ++i) {
    if (numbers[i] < 0)
      return invalid_argument(
        fmt::format("shard_func gave {}; shards are numbered from 0", numbers[i]));
    append_run(runs[numbers[i]], {0, i, 1});
  }
  const block* piece = &rows;
  for (const auto& [shard, of_it] : runs)
    HEADRACE_TRY(
      to.write(gather_rows({&piece, 1}, of_it, kernel_calls), static_cast<uint64_t>(shard)));
  return {};
}

} // namespace headrace::detail
