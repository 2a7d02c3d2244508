#include "headrace/pipeline/types/sharding_policy.hpp"

#include "headrace/pipeline/types/words.hpp"

namespace headrace {

result<sharding_policy> sharding_policy_of(std::string_view word) {
  return detail::value_of_word<sharding_policy>("sharding policy", word, sharding_policies);
}

} // namespace headrace
