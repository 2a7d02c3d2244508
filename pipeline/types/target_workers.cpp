#include "headrace/pipeline/types/target_workers.hpp"

#include "headrace/pipeline/types/words.hpp"

namespace headrace {

result<target_workers> target_workers_of(std::string_view word) {
  return detail::value_of_word<target_workers>("target workers", word, all_target_workers);
}

} // namespace headrace
