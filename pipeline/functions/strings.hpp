#pragma once

#include "headrace/pipeline/functions/ragged.hpp"

/// Functions of strings, which are bytes of any encoding.
namespace headrace::strings {

/// The unit of positions, lengths and letters.
enum class unit : uint8_t {
  bytes,
  utf8_chars ///< code points: each byte that is no UTF-8 continuation byte begins one
};

expr length(const expr& x, unit counted = unit::bytes); ///< int32
/// Converts ASCII letters only. With `unit::utf8_chars`, all letters are converted by Unicode's
/// full case mapping (`ß` becomes `SS`), and bytes that are no UTF-8 are kept.
expr upper(const expr& x, unit letters = unit::bytes);
expr lower(const expr& x, unit letters = unit::bytes);
expr strip(const expr& x); ///< without white space at both ends
/// The part of each string that begins at `position` and has `length` units, or fewer if the string
/// ends before. Both are integers that broadcast with `x`. A negative position counts from the end.
/// A position beyond either end, or a negative length, is an error of the row.
expr substr(const expr& x, const expr& position, const expr& length, unit counted = unit::bytes);
/// True where the RE2 `pattern` matches the whole string.
expr regex_full_match(const expr& x, const std::string& pattern);
/// Replaces matches of the RE2 `pattern` (the first, or all) by `rewrite`, where `\1` to `\9` stand
/// for the matches of its groups and `\0` for the whole match.
expr regex_replace(const expr& x, const std::string& pattern, const std::string& rewrite,
                   bool replace_global = true);
/// An int64 in `[0, num_buckets)` that depends on the string alone: the FarmHash fingerprint64
/// modulo `num_buckets`, as in TensorFlow's function of that name.
expr to_hash_bucket_fast(const expr& x, int64_t num_buckets);
/// The parts of a scalar string between separators: a vector of unknown length. If the separator is
/// empty, the parts are the words between runs of white space; none of them is empty.
expr split(const expr& x, const std::string& separator = "");
/// The parts of each string of a vector, as a ragged tensor with one row for each string.
ragged split_each(const expr& x, const std::string& separator = "");
/// The first `count` parts of each string between separators (see `split`) along a new last axis,
/// filled up with `filler` if there are fewer parts.
expr split_padded(const expr& x, int64_t count, const std::string& separator = "",
                  const std::string& filler = "");

/// The separator of `ngrams`, and the treatment of the ends of a sequence of strings.
struct ngram_options {
  std::string separator = " ";
  /// The pads before the first and after the last string; `nullopt`: none.
  std::optional<std::pair<std::string, std::string>> pad_values;
  /// The number of pads at each end; a number above width - 1 means width - 1, as does -1.
  int64_t padding_width = -1;
  /// True: if the strings and pads are too few for any n-gram, the result is one n-gram of all of
  /// them.
  bool preserve_short_sequences = false;
};
/// The n-grams along the last axis: first all runs of `widths[0]` consecutive strings, each joined
/// by the separator, then all runs of `widths[1]` strings, and so on. An empty axis has no n-grams,
/// even with pads.
expr ngrams(const expr& x, std::vector<int64_t> widths, const ngram_options& options = {});
expr ngrams(const expr& x, int64_t width, const ngram_options& options = {});

/// Joins the strings of all `xs` value by value, with `separator` between them; shapes broadcast.
expr join(const std::vector<expr>& xs, const std::string& separator = "");
/// Joins the strings along the last axis of `x`, with `separator` between them.
expr reduce_join(const expr& x, const std::string& separator = "");
/// The number that each string contains. White space before and after the number is ignored; any
/// other text beside it, or an integer out of range, is an error of the row. A float that is too
/// large for float32 or float64 becomes infinite. A float that fits float32, but not the 16-bit
/// `type`, is an error of the row.
expr to_number(const expr& x, dtype type = dtype::float32);
template <plain_value T>
expr to_number(const expr& x) {
  return to_number(x, dtype_of<T>);
}
/// Integers in decimal, floats with six digits after the point, bools as `true` and `false`.
expr as_string(const expr& x);

} // namespace headrace::strings
