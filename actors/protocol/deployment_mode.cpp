#include "headrace/actors/protocol/deployment_mode.hpp"

#include "headrace/pipeline/types/words.hpp"

namespace headrace {

result<deployment_mode> deployment_mode_of(std::string_view word) {
  return detail::value_of_word<deployment_mode>("deployment mode", word, deployment_modes);
}

} // namespace headrace
