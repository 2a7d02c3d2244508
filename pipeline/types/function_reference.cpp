#include "headrace/pipeline/types/function_reference.hpp"

#include "headrace/runtime/base/utf8.hpp"

namespace headrace {

std::string to_string(const function_reference& x) {
  constexpr size_t most_bytes = 200;
  return std::string{
    detail::utf8_prefix(x.label.empty() ? x.name : x.name + ":" + x.label, most_bytes)};
}

} // namespace headrace
