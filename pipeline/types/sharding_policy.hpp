#pragma once

#include "headrace/runtime/base/result.hpp"

#include <cstdint>
#include <string_view>

namespace headrace {

/// How the workers of a service share a dataset.
enum class sharding_policy : uint8_t {
  off, ///< every worker gives the whole dataset: as many copies as there are workers
  /// Each element is given once: splits of the sources are leased to workers while they read.
  dynamic,
  file,         ///< static: each worker of a fixed list gives the elements of its own files
  data,         ///< static: each of n workers makes all elements and gives every n-th one
  file_or_data, ///< static: as `file` if there are enough files, else as `data`
  hint,         ///< static: each worker gives its part where the graph has `shard(shard_hint, ...)`
};

/// All values that this build defines.
inline constexpr sharding_policy sharding_policies[]{
  sharding_policy::off,  sharding_policy::dynamic,      sharding_policy::file,
  sharding_policy::data, sharding_policy::file_or_data, sharding_policy::hint};

/// True if each worker has a fixed part of the dataset: its shard. Static policies need a
/// dispatcher with a list of workers.
constexpr bool is_static(sharding_policy x) noexcept {
  return x != sharding_policy::off && x != sharding_policy::dynamic;
}

/// A special number of shards: under the policy `hint`, `shard(shard_hint, ...)` gives each worker
/// its own part.
inline constexpr int64_t shard_hint = -1;

/// The form that users write: `off`, `dynamic`, `file`, `data`, `file_or_data` or `hint`.
constexpr std::string_view to_string(sharding_policy x) noexcept {
  switch (x) {
  case sharding_policy::off: return "off";
  case sharding_policy::dynamic: return "dynamic";
  case sharding_policy::file: return "file";
  case sharding_policy::data: return "data";
  case sharding_policy::file_or_data: return "file_or_data";
  case sharding_policy::hint: return "hint";
  }
  return "unknown";
}

/// The policy with that name. `invalid_argument` names the unknown word and the valid ones.
result<sharding_policy> sharding_policy_of(std::string_view word);

} // namespace headrace
