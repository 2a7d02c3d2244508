#include "headrace/pipeline/iterator/random.hpp"

#include "headrace/pipeline/sources/numbers.hpp"

namespace headrace::detail {

opened open_random(engine& shared, const dataset_ptr& node, const place& at) {
  auto key = shared.random_key(*node, at);
  if (node->as<random_parameters>().reseed)
    key = mix(mix(key, at.iteration), shared.context().repetition);
  return open_numbers(shared, *node, at, endless_rows,
                      [random = counter_random{key}](uint64_t row) mutable {
                        return static_cast<int64_t>(random.bits(row) >> 32);
                      });
}

} // namespace headrace::detail
