#include "headrace/pipeline/functions/representation/operand_rule.hpp"

#include <fmt/format.h>

namespace headrace::detail {

namespace {

dtype type_by(gives rule, const library_operands& in) {
  switch (rule) {
  case gives::first: break;
  case gives::second: return in[1].type;
  case gives::asked: return in.type;
  case gives::boolean: return dtype::boolean;
  case gives::int32: return dtype::int32;
  case gives::int64: return dtype::int64;
  case gives::string: return dtype::string;
  }
  return in[0].type;
}

} // namespace

result<tensor_spec> infer_by(const operand_rule& rule, const library_operands& in) {
  for (const auto& x : in.specs)
    if (!rule.takes.accepts(x.type))
      return invalid_argument(
        fmt::format("an operand is {}; it must be {}", to_string(x), rule.takes.words));
  if (rule.one_type)
    for (const auto& x : in.specs)
      if (x.type != in[0].type)
        return invalid_argument(
          fmt::format("operands are {} and {}; cast one", to_string(in[0]), to_string(x)));
  if (rule.check)
    HEADRACE_TRY(rule.check(in));
  std::vector<shape> shapes;
  for (const auto& x : in.specs) shapes.push_back(x.dims);
  HEADRACE_ASSIGN(auto dims, rule.dims(in.attrs, shapes));
  return tensor_spec{type_by(rule.type, in), std::move(dims)};
}

} // namespace headrace::detail
