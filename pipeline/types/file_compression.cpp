#include "headrace/pipeline/types/file_compression.hpp"

#include "headrace/pipeline/types/words.hpp"

namespace headrace {

result<file_compression> file_compression_of(std::string_view word) {
  return detail::value_of_word<file_compression>("compression", word, file_compressions);
}

} // namespace headrace
