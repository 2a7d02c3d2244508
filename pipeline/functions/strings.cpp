#include "headrace/pipeline/functions/strings.hpp"

#include "headrace/pipeline/functions/literal.hpp"

namespace headrace::strings {
using namespace detail;

using detail::apply;

namespace {

expr with_text(expr_op op, std::vector<expr_ptr> inputs, const std::string& text) {
  expr_attrs attrs;
  attrs.text = text;
  return apply(op, std::move(inputs), std::move(attrs));
}

} // namespace

expr length(const expr& x, unit counted) {
  return apply(counted == unit::bytes ? expr_op::string_length : expr_op::unicode_length,
               {x.node()});
}
expr upper(const expr& x, unit letters) {
  return apply(letters == unit::bytes ? expr_op::string_upper : expr_op::unicode_upper, {x.node()});
}
expr lower(const expr& x, unit letters) {
  return apply(letters == unit::bytes ? expr_op::string_lower : expr_op::unicode_lower, {x.node()});
}
expr substr(const expr& x, const expr& position, const expr& length, unit counted) {
  expr_attrs attrs;
  attrs.flag = counted == unit::utf8_chars;
  return apply(expr_op::substring,
               {x.node(), cast<int64_t>(position).node(), cast<int64_t>(length).node()},
               std::move(attrs));
}
expr regex_full_match(const expr& x, const std::string& pattern) {
  return with_text(expr_op::regex_full_match, {x.node()}, pattern);
}
expr regex_replace(const expr& x, const std::string& pattern, const std::string& rewrite,
                   bool replace_global) {
  expr_attrs attrs;
  attrs.flag = replace_global;
  attrs.texts = {pattern, rewrite};
  return apply(expr_op::regex_replace, {x.node()}, std::move(attrs));
}
expr to_hash_bucket_fast(const expr& x, int64_t num_buckets) {
  expr_attrs attrs;
  attrs.dims = {num_buckets};
  return apply(expr_op::to_hash_bucket, {x.node()}, std::move(attrs));
}
expr split_padded(const expr& x, int64_t count, const std::string& separator,
                  const std::string& filler) {
  expr_attrs attrs;
  attrs.dims = {count};
  attrs.text = separator;
  attrs.texts = {filler};
  return apply(expr_op::split_padded, {x.node()}, std::move(attrs));
}
expr ngrams(const expr& x, std::vector<int64_t> widths, const ngram_options& options) {
  expr_attrs attrs;
  attrs.dims = std::move(widths);
  attrs.text = options.separator;
  attrs.index = options.padding_width;
  attrs.flag = options.preserve_short_sequences;
  if (options.pad_values)
    attrs.texts = {options.pad_values->first, options.pad_values->second};
  return apply(expr_op::ngrams, {x.node()}, std::move(attrs));
}
expr ngrams(const expr& x, int64_t width, const ngram_options& options) {
  return ngrams(x, std::vector<int64_t>{width}, options);
}
expr strip(const expr& x) { return apply(expr_op::string_strip, {x.node()}); }
ragged split_each(const expr& x, const std::string& separator) {
  return {with_text(expr_op::split_values, {x.node()}, separator),
          with_text(expr_op::split_lengths, {x.node()}, separator)};
}
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
