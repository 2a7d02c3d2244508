#include "headrace/pipeline/graph/source_format.hpp"

namespace headrace {

field_format field(std::string name, dtype type) { return {std::move(name), {type, {}}, {}}; }

field_format field(std::string name, tensor_spec spec) {
  return {std::move(name), std::move(spec), {}};
}

field_format field(std::string name, std::string_view missing) {
  return {std::move(name), {dtype::string, {}}, column::of_strings({&missing, 1})};
}

} // namespace headrace
