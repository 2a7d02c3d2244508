#include "headrace/pipeline/types/dtype.hpp"

namespace headrace {

std::string_view to_string(dtype type) noexcept {
  switch (type) {
  case dtype::boolean: return "bool";
  case dtype::int8: return "int8";
  case dtype::int16: return "int16";
  case dtype::int32: return "int32";
  case dtype::int64: return "int64";
  case dtype::uint8: return "uint8";
  case dtype::uint16: return "uint16";
  case dtype::uint32: return "uint32";
  case dtype::uint64: return "uint64";
  case dtype::float16: return "float16";
  case dtype::bfloat16: return "bfloat16";
  case dtype::float32: return "float32";
  case dtype::float64: return "float64";
  case dtype::complex64: return "complex64";
  case dtype::complex128: return "complex128";
  case dtype::string: return "string";
  }
  return "invalid";
}

result<dtype> parse_dtype(std::string_view name) {
  std::string known;
  for (auto i = uint8_t{1}; i <= static_cast<uint8_t>(dtype::string); ++i) {
    auto type = static_cast<dtype>(i);
    if (to_string(type) == name)
      return type;
    known += (i == 1 ? "" : ", ") + std::string{to_string(type)};
  }
  return invalid_argument("no dtype '" + std::string{name} + "'; there are " + known);
}

} // namespace headrace
