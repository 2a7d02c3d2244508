#include "headrace/pipeline/functions/strings.hpp"

#include "headrace/pipeline/functions/literal.hpp"

namespace headrace::strings {

using detail::apply;

namespace {

expr with_text(expr_op op, std::vector<expr_ptr> inputs, const std::string& text) {
  expr_attrs attrs;
  attrs.text = text;
  return apply(op, std::move(inputs), std::move(attrs));
}

} // namespace

expr length(const expr& x) { return apply(expr_op::string_length, {x.node()}); }
expr upper(const expr& x) { return apply(expr_op::string_upper, {x.node()}); }
expr lower(const expr& x) { return apply(expr_op::string_lower, {x.node()}); }
expr strip(const expr& x) { return apply(expr_op::string_strip, {x.node()}); }
expr split(const expr& x, const std::string& separator) {
  return with_text(expr_op::string_split, {x.node()}, separator);
}
expr join(const std::vector<expr>& xs, const std::string& separator) {
  std::vector<expr_ptr> inputs;
  for (const auto& x : xs) inputs.push_back(x.node());
  return with_text(expr_op::string_join, std::move(inputs), separator);
}
expr reduce_join(const expr& x, const std::string& separator) {
  return with_text(expr_op::string_reduce_join, {x.node()}, separator);
}
expr to_number(const expr& x, dtype type) {
  return apply(expr_op::to_number, {x.node()}, {}, type);
}
expr as_string(const expr& x) { return apply(expr_op::as_string, {x.node()}); }

} // namespace headrace::strings
