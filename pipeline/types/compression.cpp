#include "headrace/pipeline/types/compression.hpp"

#include "headrace/pipeline/types/words.hpp"

namespace headrace {

result<compression> compression_of(std::string_view word) {
  return detail::value_of_word<compression>("compression", word, compressions);
}

} // namespace headrace
