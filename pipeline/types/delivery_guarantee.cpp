#include "headrace/pipeline/types/delivery_guarantee.hpp"

#include "headrace/pipeline/types/words.hpp"

namespace headrace {

result<delivery_guarantee> delivery_guarantee_of(std::string_view word) {
  return detail::value_of_word<delivery_guarantee>("guarantee", word, delivery_guarantees);
}

} // namespace headrace
