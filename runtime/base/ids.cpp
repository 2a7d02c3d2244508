#include "headrace/runtime/base/ids.hpp"

#include <random>

namespace headrace {

uint64_t random_id() {
  std::random_device entropy;
  for (;;)
    if (auto x = (uint64_t{entropy()} << 32) | entropy(); x != 0)
      return x;
}

} // namespace headrace
