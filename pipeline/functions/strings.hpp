#pragma once

#include "headrace/pipeline/functions/ragged.hpp"

/// Functions of strings, which are bytes of any encoding.
namespace headrace::strings {

/// The unit of positions and lengths.
enum class unit : uint8_t {
  bytes,
  utf8_chars ///< code points: each byte that is no UTF-8 continuation byte begins one
};

expr length(const expr& x, unit counted = unit::bytes); ///< int32
/// ASCII letters only; with `encoding` "utf-8" by Unicode's full case mapping (`ß` becomes `SS`),
/// where bytes that are no UTF-8 stay.
expr upper(const expr& x, const std::string& encoding = "");
expr lower(const expr& x, const std::string& encoding = "");
expr strip(const expr& x); ///< without white space at both ends
/// `length` units from `position` on (both integers that broadcast with `x`); a negative position
/// counts from the end, and fewer units are left where the string ends. A position beyond either
/// end or a negative length is an error of the row.
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
/// The parts of a scalar string between separators: a vector of unknown length. With an empty
/// separator: the words between runs of white space, no empty ones.
expr split(const expr& x, const std::string& separator = "");
/// The parts of each string of a vector: rows of different lengths.
ragged split_each(const expr& x, const std::string& separator = "");
/// The first `count` parts of each string between separators (as `split`) in a new last axis;
/// `filler` where there are fewer.
expr split_padded(const expr& x, int64_t count, const std::string& separator = "",
                  const std::string& filler = "");

/// How `ngrams` treats the ends.
struct ngram_options {
  std::string separator = " ";
  /// The pads before the first and after the last string; `nullopt`: none.
  std::optional<std::pair<std::string, std::string>> pad_values;
  /// The number of pads at each end, at most width - 1; -1: width - 1.
  int64_t padding_width = -1;
  /// If there is no n-gram at all: all strings (and pads) together as one.
  bool preserve_short_sequences = false;
};
/// The runs of `widths[0]` strings along the last axis joined by the separator, then those of
/// `widths[1]` ... An empty axis has none, pads or not.
expr ngrams(const expr& x, std::vector<int64_t> widths, const ngram_options& options = {});
expr ngrams(const expr& x, int64_t width, const ngram_options& options = {});

/// Element by element: the strings of all `xs` with `separator` between them.
expr join(const std::vector<expr>& xs, const std::string& separator = "");
/// The strings along the last axis of `x` with `separator` between them.
expr reduce_join(const expr& x, const std::string& separator = "");
/// The number that each string spells, white space round it aside. Anything else in it, or an
/// integer out of range, is an error of the row. Floats that are too large become infinite; those
/// that only a 16-bit float cannot hold are errors.
expr to_number(const expr& x, dtype type = dtype::float32);
template <plain_value T>
expr to_number(const expr& x) {
  return to_number(x, dtype_of<T>);
}
/// Integers in decimal, floats with six digits after the point, bools as `true` and `false`.
expr as_string(const expr& x);

} // namespace headrace::strings
